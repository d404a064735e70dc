#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Saves while a connection outside the store holds the write lock.
    @Suite(.timeLimit(.minutes(5)))
    struct ForeignWriterTests {
        private final class Flag: Sendable {
            private let value = Mutex(false)
            var isSet: Bool { value.withLock { $0 } }

            func set() { value.withLock { $0 = true } }
        }

        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func open(waiting timeout: Duration) async throws -> (SQLitePersistenceService, DatabaseQueue) {
            var description = fixture.store
            description.busyTimeout = timeout
            let store = SQLitePersistenceService(description, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            return (store, try DatabaseQueue(path: fixture.path, configuration: configuration))
        }

        @Test("A save fails as busy after the timeout, leaves its scope unchanged, and works once the lock is free")
        func timeout() async throws {
            let (store, other) = try await open(waiting: .milliseconds(100))
            let edits = try store.child("edit")
            try await edits.create(Company(id: 2, name: "Nero"), save: .pending)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let start = ContinuousClock.now
            for _ in 0..<2 {
                do throws(PersistenceFailure) {
                    try await edits.save(.store)
                    Issue.record("The save has not failed.")
                } catch {
                    #expect(error.reason == .busy)
                    #expect(error.store == fixture.path)
                }
            }
            #expect(ContinuousClock.now - start >= .milliseconds(150))
            // Reads do not wait for the lock.
            #expect(try await edits.fetch(Company.all).map(\.name) == ["Ufa", "Nero"])
            #expect(try await store.count(Company.all) == 1)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            #expect(try await edits.save(.store) == SaveReport(inserted: 1))
            try other.close()
            await store.close()
        }

        @Test("A save waits for the lock, and succeeds over the commit of the other connection")
        func waiting() async throws {
            let (store, other) = try await open(waiting: .seconds(60))
            try await other.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO company VALUES (7, 'Terra')")
            }
            let flag = Flag()
            // The closure of the call runs before its save requests the lock.
            let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await store.perform(save: .store) { work in
                        try work.create(Company(id: 2, name: "Nero"))
                        continuation.finish()
                    }
                    flag.set()
                }
                for await _ in begun {}
                #expect(!flag.isSet)
                try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                try await group.waitForAll()
            }
            #expect(try await store.fetch(Company.all).map(\.name) == ["Ufa", "Nero", "Terra"])
            try other.close()
            await store.close()
        }
    }
#endif
