#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// Blocking calls inside closures that the store runs.
    @Suite(.timeLimit(.minutes(5)))
    struct ReentrancyTests {
        fileprivate typealias Blocking = (name: String, make: @Sendable (any PersistenceService) throws -> Void)

        /// Every call that reads, in its blocking form.
        private static let reads: [Blocking] = {
            var list: [Blocking] = []
            list.add("fetch") { try $0.fetch(Note.all) }
            list.add("fetch by ids", .fetch(Note.self, ids: [1, 2], missing: .ignore))
            list.add("fetch and transform") { try $0.fetch(Note.all).map { $0.id } }
            list.add("fetch with origins") { try $0.fetchWithOrigins(Note.all) }
            list.add("fetch with a relation") { try $0.fetch(Note.all, with: ToOne<Note, Note>(Note.columns.id)) }
            list.add("first") { try $0.first(Note.all) }
            list.add("one") { try $0.one(Note.all) }
            list.add("find", .find(Note.self, id: 1))
            list.add("ids") { try $0.ids(Note.all) }
            list.add("values") { try $0.values(Note.all.values { $0.year }) }
            list.add("count") { try $0.count(Note.all) }
            list.add("count of values") { try $0.count(Note.all.values { $0.year }.distinct()) }
            list.add("exists") { try $0.exists(Note.all) }
            list.add("sum") { try $0.sum(Note.all.values { $0.year }) }
            list.add("min") { try $0.min(Note.all.values { $0.year }) }
            list.add("max") { try $0.max(Note.all.values { $0.year }) }
            list.add("average") { try $0.average(Note.all.values { $0.year }) }
            list.add("counts") { try $0.counts(by: Note.all.values { $0.year }) }
            list.add("batch") { try $0.batch(of: Note.all, size: 1) }
            list.add("read", .read { _ in })
            return list
        }()

        /// Every call that changes or saves rows, in its blocking form.
        private static let changes: [Blocking] = {
            var list: [Blocking] = []
            list.add("create", save: .store) { try $0.create(Note(id: 9, year: 1)) }
            list.add("create many", save: .parent) { try $0.create([Note(id: 9, year: 1)]) }
            list.add("create from", save: .pending) { try $0.create(from: [Int64(9)]) { Note(id: $0, year: 1) } }
            list.add("put", save: .pending) { try $0.put(Note(id: 9, year: 1)) }
            list.add("put many", save: .store) { try $0.put([Note(id: 9, year: 1)]) }
            list.add("update", save: .parent) { try $0.update(Note.self, id: 1) { $0.year = 5 } }
            list.add("update by query", save: .store) { try $0.update(Note.all) { $0.year = 5 } }
            list.add("update from", save: .pending) { try $0.update(Note(id: 1, year: 5), from: Note(id: 1, year: 1)) }
            list.add("delete", .delete(Note.all, save: .pending))
            list.add("delete ids", save: .store) { try $0.delete(Note.self, ids: [1], missing: .ignore) }
            list.add("delete models", save: .parent) { try $0.delete([Note(id: 1, year: 1)]) }
            list.add("perform", .perform(save: .store) { _ in })
            list.add("save", .save(.store))
            list.add("save to parent", .save(.parent))
            list.add("save nothing", .save(.pending))
            list.add("validate", .validate())
            list.add("rollback", .rollback())
            list.add("discard", .discard(Note.self, ids: [1]))
            list.add("importRows", .importRows([Note(id: 9, year: 1)]))
            list.add("reserveIDs") { try $0.reserveIDs(for: Note.self, count: 1) }
            return list
        }()

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
                scope.start(save: .pending) {
                    try $0.create(Note(id: 7, year: 1))
                } completion: { _ in
                    continuation.yield(place)
                }
                store.start(save: .store) {
                    try $0.update(Note.self, id: 1) { $0.year += 10 }
                } completion: { result in
                    continuation.yield("\(place) \((try? result.get()) != nil)")
                }
                store.start {
                    try $0.count(Note.all)
                } completion: { _ in
                    continuation.yield("\(place) count")
                }.cancel()
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
                continuation.yield((try? store.wait { try $0.count(Note.all) }) ?? -1)
            }
            let count = try await store.perform(save: .store) { work in
                try work.create(Note(id: 1, year: 1))
                try work.create(Note(id: 2, year: 1))
                return try other.wait { try $0.count(Note.all) }
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

    extension [ReentrancyTests.Blocking] {
        fileprivate mutating func add(_ name: String, _ call: PersistenceCall<some Any>) {
            append((name, { _ = try $0.wait(for: call) }))
        }

        fileprivate mutating func add<Value: Sendable>(
            _ name: String, save level: SaveLevel? = nil, _ work: @escaping @Sendable (PersistenceWork) throws -> Value
        ) {
            append((name, { _ = try $0.wait(save: level, work) }))
        }
    }
#endif
