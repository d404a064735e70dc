#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// The states of a store and its scopes, and the rows that are lost at their end.
    @Suite(.timeLimit(.minutes(5)))
    struct ScopeStateTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        @Test("The states of a store follow each other on every scope, and end with closed")
        func states() async throws {
            let mayOpen = DispatchSemaphore(value: 0)
            let gate = Migration("0 gate") { _ in mayOpen.wait() }
            let store = SQLitePersistenceService(fixture.store, migrations: [gate, StoreFixture.first])
            let edits = try store.child("edit")
            var states = store.states.makeAsyncIterator()
            var scoped = edits.states.makeAsyncIterator()
            #expect(await states.next() == .opening)
            #expect(await scoped.next() == .opening)
            mayOpen.signal()
            #expect(await states.next() == .ready)
            #expect(await scoped.next() == .ready)
            await edits.close()
            #expect(await scoped.next() == .closed)
            #expect(await scoped.next() == nil)
            await store.close()
            #expect(await states.next() == .closed)
            #expect(await states.next() == nil)
            var late = edits.states.makeAsyncIterator()
            #expect(await late.next() == .closed)
            #expect(await late.next() == nil)
        }

        @Test("A failed store reports why, and its states continue when it is opened again")
        func failures() async throws {
            fixture.write(Array("no database".utf8) + Array(repeating: 32, count: 600), to: "store.sqlite")
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            var failure: PersistenceFailure?
            for await state in store.states {
                if case .failed(let cause) = state {
                    failure = cause
                    break
                }
            }
            #expect(failure?.reason == .corrupt)
            var states = store.states.makeAsyncIterator()
            #expect(await states.next() == store.state)
            fixture.write([], to: "store.sqlite")
            store.reopen()
            var last = await states.next()
            if last == .opening { last = await states.next() }
            #expect(last == .ready)
            await store.close()
        }

        @Test("The states of a released scope end, and do not keep it alive")
        func releasing() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.ready()
            var edits: (any PersistenceService)? = try store.child("edit")
            var states = try #require(edits?.states).makeAsyncIterator()
            #expect(await states.next() == .ready)
            edits = nil
            #expect(await states.next() == .closed)
            await store.close()
        }

        @Test("A scope that ends with pending rows reports their number, whether it is closed or released")
        func discards() async throws {
            let (stream, continuation) = AsyncStream<String>.makeStream()
            var description = fixture.store
            description.onDiscard = { continuation.yield("\($0) \($1)") }
            let store = SQLitePersistenceService(description, migrations: [StoreFixture.first])
            var ended = stream.makeAsyncIterator()
            do {
                let released = try store.child("released")
                try await released.create((1...3).map { Company(id: $0, name: "\($0)") }, save: .pending)
            }
            #expect(await ended.next() == "released 3")
            let closed = try store.child("closed")
            try await closed.create(Company(id: 4, name: "4"), save: .pending)
            await closed.close()
            await closed.close()
            let saved = try store.child("saved")
            try await saved.create(Company(id: 5, name: "5"), save: .store)
            await saved.close()
            try await store.delete(Company.self, ids: [5], save: .pending)
            await store.close()
            continuation.finish()
            #expect(await ended.next() == "closed 1")
            #expect(await ended.next() == "\(fixture.path) 1")
            #expect(await ended.next() == nil)
        }
    }
#endif
