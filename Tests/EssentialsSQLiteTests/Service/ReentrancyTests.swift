#if Persistence
    import EssentialsPersistence
    import Synchronization
    import Testing

    @testable import EssentialsSQLite

    /// Blocking calls inside closures that the store runs.
    @Suite(.timeLimit(.minutes(2)))
    struct ReentrancyTests {
        private typealias Blocking = @Sendable (any PersistenceService) throws -> Void

        /// The blocking form of each kind of call.
        private static let calls: [(name: String, make: Blocking)] = [
            ("count", { try $0.wait(for: .count(Note.all)) }),
            ("fetch", { try $0.wait(for: .fetch(Note.all)) }),
            ("find", { try $0.wait(for: .find(Note.self, id: 1)) }),
            ("read", { try $0.wait(for: .read { _ in }) }),
            ("create", { try $0.wait(for: .create(Note(id: 9, year: 1), save: .store)) }),
            ("put", { try $0.wait(for: .put(Note(id: 9, year: 1), save: .pending)) }),
            ("update", { try $0.wait(for: .update(Note.self, id: 1, save: .parent) { $0.year = 5 }) }),
            ("delete", { try $0.wait(for: .delete(Note.all, save: .pending)) }),
            ("perform", { try $0.wait(for: .perform(save: .store) { _ in }) }),
            ("save", { try $0.wait(for: .save(.store)) }),
            ("validate", { try $0.wait(for: .validate()) }),
            ("rollback", { try $0.wait(for: .rollback()) }),
            ("discard", { try $0.wait(for: .discard(Note.self, ids: [1])) }),
            ("importRows", { try $0.wait(for: .importRows([Note(id: 9, year: 1)])) }),
            ("reserveIDs", { try $0.wait(for: .reserveIDs(for: Note.self, count: 1)) }),
        ]

        /// What blocking calls inside a closure have thrown.
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

        @Test("Every blocking call inside every closure is refused, on own, parent and child scopes")
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
            // The same on the way to the store, before the writer is taken.
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

        @Test("A blocking call works where an observer runs, and on a store other than that of the closure")
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
