#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import Testing

    @testable import EssentialsSQLite

    /// Many observers beside readers and the writer.
    @Suite(.timeLimit(.minutes(5)))
    struct ObserverLoadTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
        }

        @Test("For one commit, a hundred observers run one query each")
        func hundred() async throws {
            let runs = Mutex(0)
            let call = PersistenceCall<Int>.read { work in
                runs.withLock { $0 += 1 }
                return try work.count(Company.all)
            }
            var iterators = (0..<100).map { _ in store.observe(call).makeAsyncIterator() }
            for commit in 0..<3 {
                if commit > 0 {
                    try await store.create(Company(id: Int64(commit), name: "\(commit)"), save: .store)
                }
                for index in iterators.indices { #expect(try await iterators[index].next() == commit) }
                #expect(runs.withLock { $0 } == 100 * (commit + 1))
            }
        }

        @Test("A hundred observers read during many saves, and all end with the last state")
        func busy() async throws {
            let store = store
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        for try await count in store.observe(Company.all, by: { try $0.count($1) }) where count == 40 {
                            break
                        }
                    }
                }
                for saver in 0..<4 {
                    group.addTask {
                        for row in 0..<10 {
                            let id = Int64(saver * 10 + row)
                            try await store.create(Company(id: id, name: "\(id)"), save: .store)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("Observers can read while a save waits in its transaction, and do not occupy readers that it needs")
        func waitingWriter() async throws {
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            let edits = try store.child("edit")
            let other = try store.child("other")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "Ufa A" }
            try await store.update(Company.self, id: 1, save: .store) { $0.name = "Ufa B" }
            let (isInside, inside) = AsyncStream<Void>.makeStream()
            let mayEnd = DispatchSemaphore(value: 0)
            let save = Task {
                try await edits.save(
                    .store,
                    resolving: ConflictResolution { _ in
                        inside.yield()
                        mayEnd.wait()
                        return .mine
                    })
            }
            for await _ in isInside { break }
            // The only writer waits now. More observers than readers begin, and also receive pending rows.
            var iterators = (0..<30).map { _ in other.observe(Company.all).makeAsyncIterator() }
            for index in iterators.indices { #expect(try await iterators[index].next()?.first?.name == "Ufa B") }
            try await other.update(Company.self, id: 2, save: .pending) { $0.name = "Nero 2" }
            for index in iterators.indices { #expect(try await iterators[index].next()?.last?.name == "Nero 2") }
            mayEnd.signal()
            #expect(try await save.value.updated == 1)
            for index in iterators.indices { #expect(try await iterators[index].next()?.first?.name == "Ufa A") }
        }

        @Test("Consumers that never request the next state do not delay saves")
        func idleConsumers() async throws {
            var iterators = (0..<50).map { _ in store.observe(Company.all).makeAsyncIterator() }
            for index in iterators.indices { #expect(try await iterators[index].next() == []) }
            for number in 0..<20 { try await store.create(Company(id: Int64(number), name: "\(number)"), save: .store) }
            for index in iterators.indices { #expect(try await iterators[index].next()?.count == 20) }
        }
    }
#endif
