#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// Blocking calls inside closures that the store runs.
    @Suite(.timeLimit(.minutes(2)))
    struct ReentrancyTests {
        private typealias Blocking = @Sendable (any PersistenceService) throws -> Void

        /// Every call that reads, in its blocking form.
        private static let reads: [(name: String, make: Blocking)] = [
            ("fetch", { try $0.wait(for: .fetch(Note.all)) }),
            ("fetch by ids", { try $0.wait(for: .fetch(Note.self, ids: [1, 2], missing: .ignore)) }),
            ("fetch and transform", { try $0.wait(for: .fetch(Note.all) { $0.id }) }),
            ("fetch with origins", { try $0.wait(for: .fetchWithOrigins(Note.all)) }),
            (
                "fetch with a relation",
                { _ = try $0.wait(for: .fetch(Note.all, with: ToOne<Note, Note>(Note.columns.id))) }
            ),
            ("first", { try $0.wait(for: .first(Note.all)) }),
            ("one", { try $0.wait(for: .one(Note.all)) }),
            ("find", { try $0.wait(for: .find(Note.self, id: 1)) }),
            ("ids", { try $0.wait(for: .ids(Note.all)) }),
            ("values", { try $0.wait(for: .values(Note.all.values { $0.year })) }),
            ("count", { try $0.wait(for: .count(Note.all)) }),
            ("count of values", { try $0.wait(for: .count(Note.all.values { $0.year }.distinct())) }),
            ("exists", { try $0.wait(for: .exists(Note.all)) }),
            ("sum", { try $0.wait(for: .sum(Note.all.values { $0.year })) }),
            ("min", { try $0.wait(for: .min(Note.all.values { $0.year })) }),
            ("max", { try $0.wait(for: .max(Note.all.values { $0.year })) }),
            ("average", { try $0.wait(for: .average(Note.all.values { $0.year })) }),
            ("counts", { try $0.wait(for: .counts(by: Note.all.values { $0.year })) }),
            ("batch", { _ = try $0.wait(for: .batch(of: Note.all, size: 1)) }),
            ("read", { try $0.wait(for: .read { _ in }) }),
        ]

        /// Every call that changes or saves rows, in its blocking form.
        private static let changes: [(name: String, make: Blocking)] = [
            ("create", { try $0.wait(for: .create(Note(id: 9, year: 1), save: .store)) }),
            ("create many", { try $0.wait(for: .create([Note(id: 9, year: 1)], save: .parent)) }),
            ("create from", { try $0.wait(for: .create(from: [Int64(9)], save: .pending) { Note(id: $0, year: 1) }) }),
            ("put", { try $0.wait(for: .put(Note(id: 9, year: 1), save: .pending)) }),
            ("put many", { try $0.wait(for: .put([Note(id: 9, year: 1)], save: .store)) }),
            ("update", { try $0.wait(for: .update(Note.self, id: 1, save: .parent) { $0.year = 5 }) }),
            ("update by query", { try $0.wait(for: .update(Note.all, save: .store) { $0.year = 5 }) }),
            (
                "update from",
                { try $0.wait(for: .update(Note(id: 1, year: 5), from: Note(id: 1, year: 1), save: .pending)) }
            ),
            ("delete", { try $0.wait(for: .delete(Note.all, save: .pending)) }),
            ("delete ids", { try $0.wait(for: .delete(Note.self, ids: [1], missing: .ignore, save: .store)) }),
            ("delete models", { try $0.wait(for: .delete([Note(id: 1, year: 1)], save: .parent)) }),
            ("perform", { try $0.wait(for: .perform(save: .store) { _ in }) }),
            ("save", { try $0.wait(for: .save(.store)) }),
            ("save to parent", { try $0.wait(for: .save(.parent)) }),
            ("save nothing", { try $0.wait(for: .save(.pending)) }),
            ("validate", { try $0.wait(for: .validate()) }),
            ("rollback", { try $0.wait(for: .rollback()) }),
            ("discard", { try $0.wait(for: .discard(Note.self, ids: [1])) }),
            ("importRows", { try $0.wait(for: .importRows([Note(id: 9, year: 1)])) }),
            ("reserveIDs", { try $0.wait(for: .reserveIDs(for: Note.self, count: 1)) }),
        ]

        private static let calls = reads + changes

        /// The errors of blocking calls inside a closure.
        private final class Findings: Sendable {
            private let list = Mutex<[String]>([])
            private let services: [any PersistenceService]

            init(_ services: [any PersistenceService]) { self.services = services }

            /// Makes every call on every scope. The number of calls, and those that were not refused.
            var results: (count: Int, wrong: [String]) {
                list.withLock { list in
                    defer { list = [] }
                    return (list.count, list.filter { !$0.hasSuffix(" reentrant") })
                }
            }

            func makeCalls() {
                for service in services {
                    for (name, call) in ReentrancyTests.calls {
                        var reason = "none"
                        do { try call(service) } catch {
                            reason = (error as? PersistenceFailure)?.reason.name ?? "\(error)"
                        }
                        list.withLock { $0.append("\(service.name) \(name) \(reason)") }
                    }
                }
            }
        }

        @Test("Every blocking call inside every closure is refused, on its own scope and on parents and children")
        func everything() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create([Note(id: 1, year: 1), Note(id: 2, year: 2)], save: .store)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let findings = Findings([store, edits, inner])
            let expected = 3 * Self.calls.count
            let closures: [(name: String, run: @Sendable (any PersistenceService) async throws -> Void)] = [
                ("perform", { try await $0.perform(save: .pending) { _ in findings.makeCalls() } }),
                ("perform and save", { try await $0.perform(save: .store) { _ in findings.makeCalls() } }),
                ("read", { try await $0.read { _ in findings.makeCalls() } }),
                ("transform", { _ = try await $0.fetch(Note.where { $0.id == 1 }) { _ in findings.makeCalls() } }),
                (
                    "create from sources",
                    {
                        try await $0.create(from: [Int64(7)], save: .pending) { id in
                            findings.makeCalls()
                            return Note(id: id, year: 1)
                        }
                    }
                ),
                ("update", { try await $0.update(Note.self, id: 1, save: .pending) { _ in findings.makeCalls() } }),
                (
                    "update by query",
                    {
                        try await $0.update(Note.where { $0.id == 1 }, save: .pending) { _ in findings.makeCalls() }
                    }
                ),
                (
                    "update and save",
                    { try await $0.update(Note.self, id: 1, save: .parent) { _ in findings.makeCalls() } }
                ),
            ]
            for scope in [store, edits, inner] as [any PersistenceService] {
                for (name, run) in closures {
                    try await run(scope)
                    let (count, wrong) = findings.results
                    #expect(count == expected && wrong == [], "\(name) on \(scope.name)")
                    try await scope.rollback()
                }
            }
            await store.close()
        }

        /// A model whose own coding runs a closure.
        private struct Talkative: PersistentModel {
            static let hook = Mutex<(@Sendable () -> Void)?>(nil)

            var id: Int64
            var year = 1

            static let table = "note"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Talkative, Int64>("id")
                let year = Column<Talkative, Int>("year")
                var all: [ModelColumn<Talkative>] { [id.erased, year.erased] }
            }

            enum CodingKeys: CodingKey { case id, year }

            init(id: Int64) { self.id = id }

            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                id = try values.decode(Int64.self, forKey: .id)
                year = try values.decode(Int.self, forKey: .year)
                Self.hook.withLock { $0 }?()
            }

            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(id, forKey: .id)
                try values.encode(year, forKey: .year)
                Self.hook.withLock { $0 }?()
            }
        }

        @Test("Every blocking call inside a model's own coding is refused, while rows are read and changed")
        func coding() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create(Note(id: 1, year: 1), save: .store)
            let edits = try store.child("edit")
            let findings = Findings([store, edits])
            Talkative.hook.withLock { $0 = { findings.makeCalls() } }
            defer { Talkative.hook.withLock { $0 = nil } }
            for scope in [store, edits] as [any PersistenceService] {
                _ = try await scope.fetch(Talkative.all)
                #expect(findings.results == (2 * Self.calls.count, []))
                try await scope.create(Talkative(id: 2), save: .pending)
                #expect(findings.results == (2 * Self.calls.count, []))
                try await scope.update(Talkative.where { $0.id == 1 }, save: .pending) { $0.year += 1 }
                // It is decoded once, and encoded before and after the change.
                #expect(findings.results == (3 * 2 * Self.calls.count, []))
                try await scope.rollback()
            }
            await store.close()
        }

        @Test("A closure of the store can do all that does not wait: create scopes, observe, start calls and release")
        func harmless() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create(Note(id: 1, year: 1), save: .store)
            let edits = try store.child("edit", resolving: .mine)
            try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 2 }
            try await store.update(Note.self, id: 1, save: .store) { $0.year = 3 }
            let (ended, continuation) = AsyncStream<String>.makeStream()
            let act: @Sendable (String) throws -> Void = { place in
                #expect(store.state == .ready && edits.state == .ready)
                let scope = try edits.child("short")
                scope.start(.create(Note(id: 7, year: 1), save: .pending)) { _ in continuation.yield(place) }
                store.start(.update(Note.self, id: 1, save: .store) { $0.year += 10 }) { result in
                    continuation.yield("\(place) \((try? result.get()) != nil)")
                }
                store.start(.count(Note.all)) { _ in continuation.yield("\(place) count") }.cancel()
                let observation = try edits.observeChanges { _ in }
                observation.cancel()
                let states = edits.observeState { _ in }
                states.cancel()
                store.reopen()
            }
            try await store.perform(save: .store) { _ in try act("perform") }
            try await edits.read { _ in try act("read") }
            let resolution = ConflictResolution { _ in
                try act("conflict")
                return .mine
            }
            try await edits.save(.store, resolving: resolution)
            var seen: [String] = []
            for await line in ended {
                seen.append(line)
                if seen.count == 9 { break }
            }
            #expect(
                seen.sorted()
                    == ["conflict", "perform", "read"].flatMap { [$0, "\($0) count", "\($0) true"] }.sorted())
            await store.close()
        }

        @Test("A blocking call works when a scope reports its lost rows, and on the closed store it is refused")
        func discarding() async throws {
            let reasons = Mutex<[String]>([])
            let current = Mutex<SQLitePersistenceService?>(nil)
            var description = SQLiteStore.temporary(models: [Note.self])
            description.onDiscard = { _, count in
                let store = current.withLock { $0 }
                for call in ReentrancyTests.reads.prefix(3) + ReentrancyTests.changes.prefix(1) {
                    var reason = "\(call.name) done"
                    do { if let store { try call.make(store) } } catch {
                        reason = (error as? PersistenceFailure)?.reason.name ?? "\(error)"
                    }
                    reasons.withLock { $0.append(reason) }
                }
            }
            let store = SQLitePersistenceService(description, migrations: [Note.migration])
            current.withLock { $0 = store }
            let edits = try store.child("edit")
            try await edits.create(Note(id: 1, year: 1), save: .pending)
            await edits.close()
            #expect(
                reasons.withLock { $0 } == [
                    "fetch done", "fetch by ids done", "fetch and transform done", "create done",
                ])
            try await store.create(Note(id: 2, year: 1), save: .pending)
            reasons.withLock { $0 = [] }
            await store.close()
            #expect(reasons.withLock { $0 } == Array(repeating: "closed", count: 4))
            current.withLock { $0 = nil }
        }

        @Test("Every blocking call inside a closure that decides a conflict is refused, for each target of the save")
        func deciding() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create(Note(id: 1, year: 1), save: .store)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let findings = Findings([store, edits, inner])
            let resolution = ConflictResolution { _ in
                findings.makeCalls()
                return .mine
            }
            // A conflict with the parent scope, while the turns of both are held.
            try await inner.update(Note.self, id: 1, save: .pending) { $0.year = 2 }
            try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 3 }
            try await inner.save(.parent, resolving: resolution)
            #expect(findings.results == (3 * Self.calls.count, []))
            // The same on the way to the store, before the write lock is taken.
            try await inner.update(Note.self, id: 1, save: .pending) { $0.year = 4 }
            try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 5 }
            try await inner.save(.store, resolving: resolution)
            #expect(findings.results == (3 * Self.calls.count, []))
            // A conflict with the file, within the transaction that writes.
            try await inner.update(Note.self, id: 1, save: .pending) { $0.year = 6 }
            try await store.update(Note.self, id: 1, save: .store) { $0.year = 7 }
            try await inner.validate(resolving: resolution)
            #expect(findings.results == (3 * Self.calls.count, []))
            try await inner.save(.store, resolving: resolution)
            #expect(findings.results == (3 * Self.calls.count, []))
            #expect(try await store.find(Note.self, id: 1)?.year == 6)
            await store.close()
        }

        @Test("A blocking call works inside an observer, and on another store than that of the closure")
        func allowed() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            let other = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await other.create(Note(id: 1, year: 1), save: .store)
            let (counts, continuation) = AsyncStream<Int>.makeStream()
            let observation = try store.observeChanges { _ in
                continuation.yield((try? store.wait(for: .count(Note.all))) ?? -1)
            }
            let count = try await store.perform(save: .store) { work in
                try work.create(Note(id: 1, year: 1))
                try work.create(Note(id: 2, year: 1))
                return try other.wait(for: .count(Note.all))
            }
            #expect(count == 1)
            for await count in counts {
                #expect(count == 2)
                break
            }
            observation.cancel()
            await store.close()
            await other.close()
        }
    }
#endif
