#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// What the observers of a store are told.
    @Suite(.timeLimit(.minutes(5)))
    struct StoreEventTests {
        private final class Events: StoreObserver {
            private let events = Mutex<[StoreEvent]>([])

            func observe(_ event: StoreEvent) { events.withLock { $0.append(event) } }

            var all: [StoreEvent] { events.withLock { $0 } }

            var calls: [StoreEvent.Call] {
                all.compactMap { if case .called(let call) = $0.kind { call } else { nil } }
            }
        }

        private let fixture: StoreFixture
        private let events = Events()

        init() throws { fixture = try StoreFixture() }

        private func service() -> SQLitePersistenceService {
            var store = fixture.store
            store.observers = [events]
            return SQLitePersistenceService(store, migrations: [StoreFixture.first])
        }

        @Test("Each call has one event, which is told before its caller goes on")
        func calls() async throws {
            let store = service()
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            let saved = try #require(events.calls.last)
            #expect(saved.action == .save && saved.report == SaveReport(inserted: 1) && saved.scope == fixture.path)
            #expect(try #require(saved.logBytes) > 0 && saved.duration > .zero && saved.failure == nil)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            try await inner.create([Person(id: 1, name: "Fritz"), Person(id: 2, name: "Thea")], save: .pending)
            #expect(events.calls.last?.pendingRows == 2 && events.calls.last?.scope == "inner")
            try await inner.validate()
            #expect(events.calls.last?.pendingRows == 2)
            try await inner.save(.parent)
            #expect(events.calls.last?.pendingRows == 0)
            _ = try await edits.fetch(Person.all)
            #expect(events.calls.last?.pendingRows == 2 && events.calls.last?.scope == "edit")
            try await edits.discard(Person.self, ids: [2])
            try await edits.save(.store)
            try await store.importRows(of: Person.self, from: [Person(id: 3, name: "Lil")], onConflict: .replace)
            try await edits.rollback()
            let actions: [StoreEvent.Call.Action] = [
                .save, .change, .validate, .saveToParent, .read, .discard, .save, .importRows, .rollback,
            ]
            #expect(events.calls.map(\.action) == actions)
            await store.close()
            #expect(events.all.first?.kind == .opened && events.all.last?.kind == .closed)
            #expect(Set(events.all.map(\.store)) == [fixture.path])
        }

        @Test("Failures are told by their reason, conflicts by their number, and lost rows at the end of their scope")
        func failures() async throws {
            let store = service()
            try await store.create(Person(id: 1, name: "Fritz s3cret"), save: .store)
            let edits = try store.child("edit")
            try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "Friedrich s3cret" }
            try await store.update(Person.self, id: 1, save: .store) { $0.name = "F. Lang s3cret" }
            await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            let failed = try #require(events.calls.last)
            #expect(failed.failure == .conflict && failed.conflicts == 1 && failed.pendingRows == 1)
            #expect(failed.report == SaveReport())
            await edits.close()
            #expect(events.all.last?.kind == .discarded(scope: "edit", rows: 1))
            await store.close()
            await store.close()
            #expect(events.all.count { $0.kind == .closed } == 1)
            await #expect(throws: PersistenceFailure.self) { try await store.fetch(Person.all) }
            #expect(events.calls.last?.failure == .closed)
            #expect(!"\(events.all)".contains("s3cret"))
        }

        @Test("A store that cannot be opened says so, and that it is open when the cause was removed")
        func opening() async throws {
            fixture.write(Array("no database".utf8) + Array(repeating: 32, count: 600), to: "store.sqlite")
            let store = service()
            await #expect(throws: PersistenceFailure.self) { try await store.fetch(Person.all) }
            fixture.write([], to: "store.sqlite")
            store.reopen()
            #expect(try await store.fetch(Person.all).isEmpty)
            await store.close()
            let kinds = events.all.map(\.kind).filter { if case .called = $0 { false } else { true } }
            #expect(kinds == [.openingFailed(.corrupt), .opened, .closed])
            #expect(events.calls.map(\.failure) == [.corrupt, nil])
        }
    }
#endif
