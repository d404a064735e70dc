#if Persistence
    import EssentialsTools
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite(.timeLimit(.minutes(5)))
    struct QueryObservationTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
        }

        @Test("An observation of a query sees stored rows, pending rows of its scope, and saves of others")
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

        @Test("A slow consumer receives only the newest state")
        func slowConsumers() async throws {
            var states = store.observe(Company.all).makeAsyncIterator()
            _ = try await states.next()
            // A second observer on the same queue shows when the first one has received all changes.
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

        @Test("Changes of other tables cause no read, and an observation ends with its task")
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
            await edits.close()
            var states = edits.observe(Company.all).makeAsyncIterator()
            do throws(PersistenceFailure) {
                _ = try await states.next()
                Issue.record("A closed scope is observed.")
            } catch {
                #expect(error.reason == .closed)
            }
            #expect(try await states.next() == nil)
        }

        @Test("An observation ends at once when its scope or a scope above it is closed", arguments: [false, true])
        func closing(isParent: Bool) async throws {
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            let (started, continuation) = AsyncStream<Void>.makeStream()
            let task = Task {
                var count = 0
                for try await _ in inner.observe(Company.all) {
                    count += 1
                    continuation.yield()
                }
                return count
            }
            for await _ in started { break }
            await (isParent ? edits : inner).close()
            #expect(try await task.value == 1)
        }

        @Test("An observation of a store that cannot be opened throws the cause once")
        func failedStores() async throws {
            fixture.write(Array("no database".utf8) + Array(repeating: 32, count: 600), to: "other.sqlite")
            let broken = SQLitePersistenceService(
                SQLiteStore(path: fixture.folder.file("other.sqlite"), models: [Company.self]), migrations: [])
            var states = broken.observe(Company.all).makeAsyncIterator()
            do throws(PersistenceFailure) {
                _ = try await states.next()
                Issue.record("The store was opened.")
            } catch {
                #expect(error.reason == .corrupt)
            }
            #expect(try await states.next() == nil)
            await broken.close()
        }

        @Test("A state that equals the previous one is dropped if the model is Equatable, also for generic callers")
        func equalStates() async throws {
            func first<Model: PersistentModel>(_ query: Query<Model>) -> QueryObservation<[Model]>.AsyncIterator {
                store.observe(query).makeAsyncIterator()
            }
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            var states = first(Company.where { $0.name == "Ufa" })
            #expect(try await states.next()?.map(\.id) == [1])
            try await store.update(Company.self, id: 2, save: .store) { $0.name = "Emelka" }
            try await store.create(Company(id: 3, name: "Decla"), save: .store)
            try await store.update(Company.self, id: 2, save: .store) { $0.name = "Ufa 2" }
            try await store.delete(Company.self, ids: [1], save: .store)
            #expect(try await states.next() == [])
        }

        @Test("A state is not dropped if the type of the elements is not Equatable")
        func incomparableStates() async throws {
            struct Box: Sendable { let count: Int }
            var states = store.observe(PersistenceCall<Box>.read { Box(count: try $0.count(Company.all)) })
                .makeAsyncIterator()
            #expect(try await states.next()?.count == 0)
            try await store.create(Person(id: 1, name: "Fritz", employer: nil), save: .store)
            #expect(try await states.next()?.count == 0)
        }

        @Test("A call that changes rows cannot be observed")
        func changingCalls() async throws {
            var states = store.observe(.delete(Company.all, save: .store)).makeAsyncIterator()
            do throws(PersistenceFailure) {
                _ = try await states.next()
                Issue.record("The call was observed.")
            } catch {
                #expect(error.reason == .invalidQuery)
            }
            #expect(try await states.next() == nil)
        }

        @Test("Models observed by ids are read again only after changes of these ids")
        func observingIDs() async throws {
            try await store.create((1...4).map { Company(id: $0, name: "\($0)") }, save: .store)
            let reads = Mutex(0)
            let call = PersistenceCall<[Company]>.looking(up: [3, 1, 9], of: Company.self) { work in
                reads.withLock { $0 += 1 }
                return try work.fetch(Company.self, ids: [3, 1, 9], missing: .ignore)
            }
            var states = store.observe(call).makeAsyncIterator()
            #expect(try await states.next()?.map(\.id) == [3, 1])
            try await store.update(Company.self, id: 2, save: .store) { $0.name = "two" }
            try await store.delete(Company.self, ids: [4], save: .store)
            try await store.update(Company.self, id: 1, save: .store) { $0.name = "one" }
            #expect(try await states.next()?.map(\.name) == ["3", "one"])
            try await store.create(Company(id: 9, name: "9"), save: .store)
            #expect(try await states.next()?.map(\.id) == [3, 1, 9])
            #expect(reads.withLock { $0 } == 3)
            var named = store.observe(Company.self, ids: [2]).makeAsyncIterator()
            #expect(try await named.next()?.map(\.name) == ["two"])
        }

        @Test("Origins distinguish stored rows from pending ones, with the scope, its level and the kind of change")
        func origins() async throws {
            try await store.create((1...3).map { Company(id: $0, name: "\($0)") }, save: .store)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            var states = inner.observeWithOrigins(Company.all).makeAsyncIterator()
            #expect(try await states.next()?.map(\.origin) == [.stored, .stored, .stored])
            try await edits.update(Company.self, id: 2, save: .pending) { $0.name = "two" }
            let updated = RowOrigin.pending(RowOrigin.Pending(level: 2, scope: "edit", kind: .updated))
            #expect(try await states.next()?.map(\.origin) == [.stored, updated, .stored])
            try await inner.create(Company(id: 4, name: "4"), save: .pending)
            let inserted = RowOrigin.pending(RowOrigin.Pending(level: 3, scope: "inner", kind: .inserted))
            #expect(try await states.next()?.map(\.origin) == [.stored, updated, .stored, inserted])
            // The rows have not changed, but are now stored.
            try await inner.save(.store)
            let last = try await states.next()
            #expect(last?.map(\.origin) == Array(repeating: .stored, count: 4))
            #expect(last?.map(\.model.name) == ["1", "two", "3", "4"])
        }

        @Test("A change of a unit of work counts as a change of its scope")
        func originsOfWork() async throws {
            let edits = try store.child("edit")
            try await edits.create(Company(id: 1, name: "1"), save: .pending)
            let origins = try await edits.perform(save: .pending) { work in
                try work.update(Company.self, id: 1) { $0.name = "one" }
                try work.create(Company(id: 2, name: "2"))
                return try work.fetchWithOrigins(Company.all).map(\.origin)
            }
            let inserted = RowOrigin.pending(RowOrigin.Pending(level: 2, scope: "edit", kind: .inserted))
            #expect(origins == [inserted, inserted])
        }

        @Test("The ids of changed rows are gathered until they are taken, and end with the scope")
        func changedIDs() async throws {
            let edits = try store.child("edit")
            var changes = edits.changes(in: Company.self).makeAsyncIterator()
            try await store.create([Company(id: 1, name: "1"), Company(id: 2, name: "2")], save: .store)
            #expect(try await changes.next() == .ids([1, 2]))
            try await edits.update(Company.self, id: 2, save: .pending) { $0.name = "two" }
            try await edits.create(Person(id: 1, name: "Fritz", employer: nil), save: .pending)
            try await edits.create(Company(id: 3, name: "3"), save: .pending)
            var ids: Set<Int64> = []
            while ids != [2, 3] {
                guard case .ids(let more)? = try await changes.next() else { break }
                ids.formUnion(more)
            }
            #expect(ids == [2, 3])
            await edits.close()
            #expect(try await changes.next() == nil)
        }

        @Test("The changes of a scope that is already closed throw once")
        func changesOfClosedScopes() async throws {
            let edits = try store.child("edit")
            await edits.close()
            var changes = edits.changes(in: Company.self).makeAsyncIterator()
            do throws(PersistenceFailure) {
                _ = try await changes.next()
                Issue.record("A closed scope is observed.")
            } catch {
                #expect(error.reason == .closed)
            }
            #expect(try await changes.next() == nil)
        }
    }
#endif
