#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    struct QueryObservationTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
        }

        @Test("An observation of a query sees what there is, pending rows of its scope, and saves of others")
        func states() async throws {
            let edits = try store.child("edit")
            let sibling = try store.child("sibling")
            var states = edits.observe(Company.all).makeAsyncIterator()
            #expect(try await states.next() == [])
            try await edits.create(Company(id: 1, name: "Ufa"), save: .pending)
            #expect(try await states.next()?.map(\.name) == ["Ufa"])
            try await sibling.create(Company(id: 2, name: "Nero"), save: .store)
            #expect(try await states.next()?.map(\.name) == ["Ufa", "Nero"])
            try await edits.rollback()
            #expect(try await states.next()?.map(\.name) == ["Nero"])
        }

        @Test("A slow consumer gets the newest state only")
        func slowConsumers() async throws {
            var states = store.observe(Company.all).makeAsyncIterator()
            _ = try await states.next()
            // A second observer of the same queue tells when the first one has heard of all changes.
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let observation = try store.observeChanges { _ in continuation.yield() }
            for number in 1...20 { try await store.create(Company(id: Int64(number), name: "\(number)"), save: .store) }
            var count = 0
            for await _ in stream {
                count += 1
                if count == 20 { break }
            }
            observation.cancel()
            #expect(try await states.next()?.count == 20)
            try await store.create(Company(id: 21, name: "21"), save: .store)
            #expect(try await states.next()?.count == 21)
        }

        @Test("Changes of other tables read nothing, and an observation ends with its task")
        func endings() async throws {
            let store = store
            let (started, continuation) = AsyncStream<Int>.makeStream()
            let task = Task {
                var count = 0
                for try await _ in store.observe(Company.all) {
                    count += 1
                    continuation.yield(count)
                }
                return count
            }
            for await _ in started { break }
            try await store.create(Person(id: 1, name: "Fritz", employer: nil), save: .store)
            task.cancel()
            #expect(try await task.value == 1)
        }

        @Test("An observation of a closed scope throws once and ends")
        func closedScopes() async throws {
            let edits = try store.child("edit")
            var states = edits.observe(Company.all).makeAsyncIterator()
            _ = try await states.next()
            await edits.close()
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            do throws(PersistenceFailure) {
                _ = try await states.next()
                Issue.record("The observation goes on.")
            } catch {
                #expect(error.reason == .closed)
            }
            #expect(try await states.next() == nil)
        }
    }
#endif
