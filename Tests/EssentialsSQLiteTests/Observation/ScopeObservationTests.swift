#if Persistence
    import Dispatch
    import EssentialsTools
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// The changes that observers of each scope receive.
    @Suite("Observers of scopes", .timeLimit(.minutes(5)))
    struct ScopeObservationTests {
        /// The changes that an observer of companies receives.
        private final class Heard {
            private final class List: Sendable {
                let changes = Mutex<[PersistenceChange]>([])
            }

            private let list = List()
            private let observation: PersistenceObservation

            init(_ service: any PersistenceService) throws {
                observation = try service.observeChanges { [list] change in list.changes.withLock { $0.append(change) }
                }
            }

            /// Takes the ids in each change so far; `nil` for any rows.
            func take() -> [Set<StoredValue>?] {
                list.changes.withLock { changes in
                    defer { changes = [] }
                    return changes.map { change in
                        if case .ids(let ids)? = change.tables[Company.table] { ids } else { nil }
                    }
                }
            }
        }

        @Test("A pending row that a save removes disappears")
        func takenBack() async throws {
            let scopes = try await NestedScopes()
            var states = scopes.store.observe(Company.where { $0.id > 3 }).makeAsyncIterator()
            #expect(try await states.next() == [])
            var changes = scopes.store.changes(in: Company.self).makeAsyncIterator()
            try await scopes.store.create(Company(id: 9, name: "Ufa"), save: .pending)
            #expect(try await states.next()?.map(\.id) == [9])
            #expect(try await changes.next() == .ids([9]))
            try await scopes.store.delete(Company.self, ids: [9], save: .store)
            #expect(try await states.next() == [])
            #expect(try await changes.next() == .ids([9]))
        }

        @Test("A pending change that a save resets to the stored value is seen")
        func setBack() async throws {
            let scopes = try await NestedScopes()
            var states = scopes.inner.observe(Company.where { $0.id == 1 }).makeAsyncIterator()
            #expect(try await states.next()?.map(\.name) == ["C1"])
            try await scopes.edits.update(Company.self, id: 1, save: .pending) { $0.name = "Ufa" }
            #expect(try await states.next()?.map(\.name) == ["Ufa"])
            try await scopes.edits.update(Company.self, id: 1, save: .store) { $0.name = "C1" }
            #expect(try await states.next()?.map(\.name) == ["C1"])
        }

        @Test("A save of a scope that cancels a pending change above it is seen above")
        func cancelledAbove() async throws {
            let scopes = try await NestedScopes()
            var states = scopes.store.observe(Company.where { $0.id > 3 }).makeAsyncIterator()
            _ = try await states.next()
            try await scopes.store.create(Company(id: 9, name: "Ufa"), save: .pending)
            #expect(try await states.next()?.count == 1)
            try await scopes.inner.delete(Company.self, ids: [9], save: .store)
            #expect(try await states.next() == [])
        }

        @Test("A row that a save to the parent drops is seen in the scope and within it")
        func droppedRows() async throws {
            let scopes = try await NestedScopes()
            try await scopes.edits.update(Company.self, id: 1, save: .pending) { $0.name = "mine" }
            try await scopes.store.update(Company.self, id: 1, save: .pending) { $0.name = "theirs" }
            var states = scopes.edits.observe(Company.where { $0.id == 1 }).makeAsyncIterator()
            var innerStates = scopes.inner.observe(Company.where { $0.id == 1 }).makeAsyncIterator()
            #expect(try await states.next()?.map(\.name) == ["mine"])
            #expect(try await innerStates.next()?.map(\.name) == ["mine"])
            try await scopes.edits.save(.parent, resolving: .theirs)
            #expect(try await states.next()?.map(\.name) == ["theirs"])
            #expect(try await innerStates.next()?.map(\.name) == ["theirs"])
        }

        @Test("A row that a save to the store drops is seen in the scope")
        func keptRows() async throws {
            let scopes = try await NestedScopes()
            try await scopes.edits.update(Company.self, id: 1, save: .pending) { $0.name = "mine" }
            try await scopes.store.update(Company.self, id: 1, save: .store) { $0.name = "theirs" }
            var states = scopes.edits.observe(Company.where { $0.id == 1 }).makeAsyncIterator()
            #expect(try await states.next()?.map(\.name) == ["mine"])
            try await scopes.edits.save(.store, resolving: .theirs)
            #expect(try await states.next()?.map(\.name) == ["theirs"])
        }

        @Test("A row that moves to the parent has a new origin")
        func movedRows() async throws {
            let scopes = try await NestedScopes()
            try await scopes.inner.update(Company.self, id: 1, save: .pending) { $0.name = "Ufa" }
            var states = scopes.inner.observeWithOrigins(Company.where { $0.id == 1 }).makeAsyncIterator()
            _ = try await states.next()
            try await scopes.inner.save(.parent)
            let updated = RowOrigin.pending(RowOrigin.Pending(level: 2, scope: "edit", kind: .updated))
            #expect(try await states.next()?.map(\.origin) == [updated])
        }

        @Test("Each observer is called once for a call, with the rows that look different to its scope")
        func calls() async throws { try await calls(NestedScopes()) }

        private func calls(_ scopes: NestedScopes) throws {
            let sibling = try scopes.store.child("sibling")
            let (root, edits, inner) = try (Heard(scopes.store), Heard(scopes.edits), Heard(scopes.inner))
            let other = try Heard(sibling)
            func heard() -> [[Set<StoredValue>?]] {
                scopes.store.waitForObservers()
                return [root.take(), edits.take(), inner.take(), other.take()]
            }
            try scopes.edits.wait(save: .pending) { try $0.create(Company(id: 9, name: "Ufa")) }
            #expect(heard() == [[], [[9]], [[9]], []])
            // One row moves, and another is dropped.
            try scopes.edits.wait(save: .pending) { try $0.update(Company.self, id: 1) { $0.name = "mine" } }
            try scopes.store.wait(save: .pending) { try $0.update(Company.self, id: 1) { $0.name = "theirs" } }
            #expect(heard() == [[[1]], [[1], [1]], [[1], [1]], [[1]]])
            try scopes.edits.wait(for: .save(.parent, resolving: .theirs))
            #expect(heard() == [[[9]], [[1, 9]], [[1, 9]], [[9]]])
            // One row is written, and another is reset.
            try scopes.inner.wait(save: .pending) { try $0.update(Company.self, id: 2) { $0.name = "two" } }
            try scopes.edits.wait(save: .pending) { try $0.update(Company.self, id: 3) { $0.name = "three" } }
            _ = heard()
            try scopes.inner.wait(save: .store) { try $0.update(Company.self, id: 3) { $0.name = "C3" } }
            #expect(heard() == [[[1, 2, 9]], [[1, 2, 3, 9]], [[1, 2, 3, 9]], [[1, 2, 9]]])
            try scopes.edits.wait(save: .pending) { try $0.delete(Company.self, ids: [9]) }
            try scopes.edits.wait(for: .rollback())
            #expect(heard() == [[], [[9], [9]], [[9], [9]], []])
        }

        @Test("A failing call, a validation and an empty save notify no observer")
        func nothing() async throws { try await nothing(NestedScopes()) }

        private func nothing(_ scopes: NestedScopes) throws {
            try scopes.edits.wait(save: .pending) { try $0.update(Company.self, id: 1) { $0.name = "mine" } }
            try scopes.store.wait(save: .store) { try $0.update(Company.self, id: 1) { $0.name = "theirs" } }
            let heard = try [scopes.store, scopes.edits, scopes.inner].map { try Heard($0) }
            for level in [SaveLevel.store, .parent] {
                #expect(throws: PersistenceFailure.self) {
                    try scopes.edits.wait(save: level) { try $0.create(Company(id: 1, name: "1")) }
                }
            }
            #expect(throws: PersistenceFailure.self) { try scopes.edits.wait(for: .save(.store)) }
            try scopes.edits.wait(for: .validate(resolving: .mine))
            try scopes.inner.wait(for: .save(.parent))
            try scopes.inner.wait(for: .rollback())
            try scopes.edits.wait(for: .discard(Company.self, ids: [2]))
            scopes.store.waitForObservers()
            for observer in heard { #expect(observer.take() == []) }
        }

        @Test("A trigger that silently refuses a row may have changed others", arguments: [false, true])
        func silentTriggers(isImport: Bool) async throws {
            let trigger = Migration(
                "2 trigger",
                sql: """
                    CREATE TRIGGER refused BEFORE INSERT ON company WHEN new.id = 9 BEGIN
                        UPDATE person SET name = 'seen';
                        SELECT RAISE(IGNORE);
                    END
                    """)
            let fixture = try StoreFixture()
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first, trigger])
            try await store.create(Person(id: 1, name: "Fritz", employer: nil), save: .store)
            var states = store.observe(Person.all).makeAsyncIterator()
            #expect(try await states.next()?.map(\.name) == ["Fritz"])
            let company = Company(id: 9, name: "9")
            if isImport {
                try await store.importRows(of: Company.self, from: [company])
            } else {
                try await store.create(company, save: .store)
            }
            #expect(try await states.next()?.map(\.name) == ["seen"])
        }
    }

    extension SQLitePersistenceService {
        /// Waits until all observers have been called for the calls that have ended.
        func waitForObservers() {
            let isReached = DispatchSemaphore(value: 0)
            let observation = observeState { _ in isReached.signal() }
            isReached.wait()
            observation.cancel()
        }
    }
#endif
