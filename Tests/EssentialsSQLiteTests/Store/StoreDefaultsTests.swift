#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// The default settings of a store.
    @Suite(.timeLimit(.minutes(5)))
    struct StoreDefaultsTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func number(_ name: String, _ db: Database) throws -> Int64? {
            try Int64.fetchOne(db, sql: "PRAGMA \(name)")
        }

        @Test("A store has five readers, waits five seconds for locks, limits reads to 30 seconds, and checks nothing")
        func values() {
            let store = fixture.store
            #expect(store.durability == .process && store.verification == .never)
            #expect(store.readers == 5 && store.busyTimeout == .seconds(5) && store.readTimeLimit == .seconds(30))
            #expect(store.pendingReaders == 32 && store.stateReaders == 16)
            #expect(store.watchesOthers == nil && store.onDiscard == nil)
            let limits = OverlayLimits()
            #expect(limits.rows == 100_000 && limits.bytes == 64 << 20 && limits.depth == 16)
            #expect(RowQuery.maximumValues == 500 && MigrationBackup.kept == 2)
        }

        @Test("The connection that writes has a log of at most 64 MiB, copies it itself, and checks foreign keys")
        func writer() throws {
            let database = try fixture.open()
            try database.write { db throws in
                #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal")
                #expect(try number("journal_size_limit", db) == 64 << 20)
                #expect(try number("wal_autocheckpoint", db) == 0)
                #expect(try number("synchronous", db) == 1)
                #expect(try number("busy_timeout", db) == 5_000)
                #expect(try number("foreign_keys", db) == 1)
                #expect(try number("page_size", db) == 4_096)
                #expect(try String.fetchOne(db, sql: "PRAGMA locking_mode") == "normal")
            }
            try database.close()
        }

        @Test("Connections that read have the same timeout and limit, and cannot change anything")
        func readers() throws {
            let database = try fixture.open()
            try database.read { db throws in
                #expect(try number("journal_size_limit", db) == 64 << 20)
                #expect(try number("wal_autocheckpoint", db) == 0)
                #expect(try number("busy_timeout", db) == 5_000)
                #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM company") }
            }
            try database.close()
        }

        @Test("At most 32 connections for pending rows each keep 512 KiB of pages and temporary tables in memory")
        func mounted() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.ready()
            let mounts = try store.core.openStore().mounts
            let settings = try mounts.read(scope: store.level.number) { pin in
                try pin()
                return try OverlayMachine(levels: [store.level.level])
            } _: { reads in
                try ["cache_size", "temp_store", "query_only", "busy_timeout"].map { try number($0, reads.db) }
            }
            #expect(settings == [-512, 2, 0, 5_000])
            var scopes: [any PersistenceService] = []
            for number in 0..<36 {
                let scope = try store.child("\(number)")
                try await scope.create(Company(id: Int64(number), name: "\(number)"), save: .pending)
                #expect(try await scope.count(Company.all) == 1)
                scopes.append(scope)
            }
            #expect(mounts.count == 32)
            // The scopes that were used first have lost their connections, and are read as before.
            #expect(mounts.idleScopes.count == 32)
            for scope in scopes { #expect(try await scope.fetch(Company.all).map(\.name) == [scope.name.lastWord]) }
            await store.close()
        }

        @Test("Five reads run at the same time, and never more")
        func width() throws {
            let database = try fixture.open()
            let counts = Mutex((running: 0, most: 0))
            let done = DispatchGroup()
            let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            for number in 0..<20 {
                let queue = DispatchQueue(label: "read \(number)")
                done.enter()
                queue.async {
                    try? database.read { _ in
                        counts.withLock { counts in
                            counts.running += 1
                            counts.most = max(counts.most, counts.running)
                        }
                        arrived.signal()
                        go.wait()
                        counts.withLock { $0.running -= 1 }
                    }
                    done.leave()
                }
            }
            // Five are inside together, before any of them may leave.
            for _ in 0..<5 { arrived.wait() }
            for _ in 0..<20 { go.signal() }
            done.wait()
            #expect(counts.withLock { $0.most } == 5)
            try database.close()
        }

        @Test("A log that is restarted after it was larger than 64 MiB is cut to that size")
        func largeLog() throws {
            let database = try fixture.open()
            try database.write { db in
                // Within one transaction the log cannot restart.
                for round in 0..<6 {
                    try db.execute(
                        sql: "INSERT INTO company(name) VALUES (? || hex(zeroblob(7000000)))", arguments: [round])
                }
            }
            #expect(FileState(fixture.path + "-wal").bytes > 70 << 20)
            // This save has copied the log, and the next one restarts it.
            try database.add("Ufa")
            #expect(FileState(fixture.path + "-wal").bytes == 64 << 20)
            #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM company") } == 7)
            try database.close()
        }
    }

    extension String {
        /// The text after the last space.
        fileprivate var lastWord: String { split(separator: " ").last.map { String($0) } ?? "" }
    }
#endif
