#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc

    /// An open store: its connections, and its claim.
    ///
    /// Closures run on the dispatch queues of the connections, never on the cooperative pool.
    final class StoreDatabase: Sendable {
        /// The size to which SQLite truncates the log.
        static let logLimit = 64 << 20

        /// The stores with a closure on the stack of this call.
        @TaskLocal private static var running: Set<ObjectIdentifier> = []

        let path: String
        let report: MigrationRunner.Report
        /// The tables of the models.
        let schema: FileSchema
        /// The name by which SQLite opens the file.
        let name: String
        private let pool: DatabasePool
        private let busyMode: Database.BusyMode
        /// Only this object uses the pool, so its connections commit nothing after the pages are released.
        private let pages = LogPages()
        private let owner: StoreOwner
        /// The opened file; `nil` if the store is only read.
        let file: OpenedFile?
        /// The folder of a temporary store, which is removed with the store.
        private let folder: TemporaryStore?

        /// Opens a store: claims and creates its file, runs migrations, and compares the tables with the models.
        ///
        /// If the file or its folder cannot be written, it is opened for reading. It blocks. After a failure nothing is
        /// held.
        static func open(_ store: SQLiteStore, migrations: [Migration]) throws(PersistenceFailure) -> StoreDatabase {
            if store.isTemporary { try TemporaryStore.makeFolder(of: store.path) }
            var store = store
            store.path = try StorePath.resolved(store.path)
            if !store.isTemporary, ReadOnlyStore.isThere(store.path) {
                return try openForReading(store, migrations: migrations)
            }
            let owner = try StoreOwner(store: store.path)
            let folder = store.isTemporary ? TemporaryStore(store: store.path) : nil
            do {
                return try StoreDatabase(store, migrations: migrations, owner: owner, folder: folder)
            } catch {
                folder?.remove()
                owner.release()
                throw PersistenceFailure(database: error, store: store.path)
            }
        }

        private static func openForReading(
            _ store: SQLiteStore, migrations: [Migration]
        ) throws(PersistenceFailure) -> StoreDatabase {
            let opening = ReadOnlyStore.opening(store.path)
            let owner = StoreOwner(reading: opening.claim)
            do {
                return try StoreDatabase(reading: store, opening.name, migrations: migrations, owner: owner)
            } catch {
                owner.release()
                throw opening.failure(PersistenceFailure(database: error, store: store.path), path: store.path)
            }
        }

        private init(reading store: SQLiteStore, _ name: String, migrations: [Migration], owner: StoreOwner) throws {
            (path, self.name, self.owner, folder, file) = (store.path, name, owner, nil, nil)
            busyMode = Self.busyMode(store)
            var configuration = Self.configuration(store)
            configuration.readonly = true
            let pool = try Self.waiting(for: store) { () throws in
                try DatabasePool(path: name, configuration: configuration)
            }
            self.pool = pool
            let runner = MigrationRunner(store: path, migrations: migrations)
            (report, schema) = try Self.closingAfterFailure(pool) {
                try pool.read { db in
                    try OpeningCheck.checkContent(of: store.path, db)
                    try OpeningCheck.verify(store, db)
                    return (try runner.checkAll(db), try Self.checkedSchema(of: store, db))
                }
            }
        }

        private init(
            _ store: SQLiteStore, migrations: [Migration], owner: StoreOwner, folder: TemporaryStore?
        ) throws {
            path = store.path
            name = path
            busyMode = Self.busyMode(store)
            self.owner = owner
            self.folder = folder
            let runner = MigrationRunner(store: path, migrations: migrations)
            if try !StoreFile.create(path) {
                try Self.waiting(for: store) { () throws in try OpeningCheck(store: store, runner: runner).run() }
            }
            let file = OpenedFile(path)
            self.file = file
            let pool = try Self.waiting(for: store) { () throws in
                try DatabasePool(path: store.path, configuration: Self.configuration(store, file))
            }
            self.pool = pool
            (report, schema) = try Self.closingAfterFailure(pool) { [pages] in
                let synchronous = store.isTemporary ? "OFF" : store.durability == .power ? "FULL" : "NORMAL"
                try pool.writeWithoutTransaction { db in
                    try db.execute(sql: "PRAGMA synchronous = \(synchronous)")
                    pages.watch(db)
                }
                return (try runner.run(pool), try pool.read { try Self.checkedSchema(of: store, $0) })
            }
        }

        private static func closingAfterFailure<Result>(
            _ pool: DatabasePool, _ body: () throws -> Result
        ) throws -> Result {
            do {
                return try body()
            } catch {
                try? pool.close()
                throw error
            }
        }

        private static func checkedSchema(of store: SQLiteStore, _ db: Database) throws -> FileSchema {
            try SchemaCheck(models: store.models).run(db)
            return try FileSchema.read(db, models: store.models)
        }

        private static func configuration(_ store: SQLiteStore, _ file: OpenedFile? = nil) -> Configuration {
            var configuration = Configuration()
            configuration.label = "ServiceEssentials.store"
            configuration.maximumReaderCount = store.readerCount
            configuration.busyMode = busyMode(store)
            let milliseconds = Int64(busySeconds(store) * 1000)
            configuration.prepareDatabase { db in
                try file?.check()
                // Checkpoints run outside commits.
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = \(logLimit)")
                // GRDB uses another timeout for readers.
                try db.execute(sql: "PRAGMA busy_timeout = \(milliseconds)")
                ReadLimit.watch(db)
            }
            return configuration
        }

        /// Repeats an attempt that the lock of another program prevents, for as long as the store's calls wait.
        ///
        /// SQLite waits for most locks by itself. It does not wait when it changes the journal mode, because it then
        /// holds a lock that the other program may need.
        private static func waiting<Result>(for store: SQLiteStore, _ attempt: () throws -> Result) throws -> Result {
            let end = ContinuousClock.now + .seconds(busySeconds(store))
            var pause: UInt32 = 1_000
            while true {
                do {
                    return try attempt()
                } catch {
                    guard ContinuousClock.now < end, isLocked(error) else { throw error }
                }
                usleep(pause)
                pause = min(2 * pause, 50_000)
            }
        }

        private static func isLocked(_ error: any Error) -> Bool {
            guard let error = error as? DatabaseError else { return false }
            return ResultCodes.reason(error.extendedResultCode.rawValue) == .busy
        }

        /// The behaviour of a store's connections while another process locks the file.
        static func busyMode(_ store: SQLiteStore) -> Database.BusyMode { .timeout(busySeconds(store)) }

        /// At most an hour.
        private static func busySeconds(_ store: SQLiteStore) -> Double {
            let (seconds, fraction) = min(max(store.busyTimeout, .zero), .seconds(3600)).components
            return Double(seconds) + Double(fraction) * 1e-18
        }

        // MARK: Reading and writing

        /// Runs a closure on one state of the file. Any number of reads run while another thread writes.
        func read<Result>(_ body: (Database) throws -> Result) throws(PersistenceFailure) -> Result {
            try checked {
                try pool.read { db in try Self.$running.withValue(running) { try body(db) } }
            }
        }

        /// Runs a closure in a transaction that begins with the write lock, so that it never fails half way because of
        /// a lock.
        func write<Result>(_ body: (Database) throws -> Result) throws(PersistenceFailure) -> Result {
            try write(body) { commit in try commit() }
        }

        /// Runs a closure in a transaction, and a second one that commits the transaction by calling its parameter. If
        /// it does not, the transaction is rolled back.
        func write<Result>(
            _ body: (Database) throws -> Result, committing: (() throws -> Void) throws -> Void
        ) throws(PersistenceFailure) -> Result {
            let result = try checked { try transaction(body, committing: committing) }
            checkpointIfLarge()
            return result
        }

        /// Runs a closure in a transaction of the writing connection, while the current thread may be reading on
        /// another connection. It must not be called inside ``write(_:)``.
        func writeWithinRead<Result>(_ body: (Database) throws -> Result) throws(PersistenceFailure) -> Result {
            guard owner.isOwner else { throw PersistenceFailure(.closed, "The store is closed.", store: path) }
            do {
                // The time limit of the read does not apply to the write.
                return try ReadLimit.run(nil) { () throws in try transaction(body) { commit in try commit() } }
            } catch {
                throw PersistenceFailure(database: error, store: path)
            }
        }

        private func transaction<Result>(
            _ body: (Database) throws -> Result, committing: (() throws -> Void) throws -> Void
        ) throws -> Result {
            try file?.check()
            return try pool.writeWithoutTransaction { db in
                try db.beginTransaction(.immediate)
                do {
                    let result = try Self.$running.withValue(running) { try body(db) }
                    try committing { try db.commit() }
                    if db.isInsideTransaction { try db.rollback() }
                    return result
                } catch {
                    // SQLite ends some transactions by itself, for example if there is no space.
                    if db.isInsideTransaction { try? db.rollback() }
                    if PersistenceFailure(database: error, store: path).reason == .full {
                        // The log cannot grow. Once it is copied, the next transaction can reuse its space.
                        _ = try? db.checkpoint(.passive)
                    }
                    throw error
                }
            }
        }

        /// The state of the file as it is before a save that runs later.
        func stateBefore() -> StateBefore {
            var configuration = Configuration()
            configuration.label = "ServiceEssentials.before"
            configuration.readonly = true
            configuration.busyMode = busyMode
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
            return StateBefore { [name, configuration] in
                try DatabaseQueue(path: name, configuration: configuration)
            }
        }

        /// Runs a closure that uses other connections to the file.
        func guarded<Result>(_ body: () throws -> Result) throws(PersistenceFailure) -> Result {
            try checked { try Self.$running.withValue(running) { try body() } }
        }

        /// Runs a closure of the caller. Blocking calls of the store are refused inside it.
        func marking<Result>(_ body: () throws -> Result) rethrows -> Result {
            try Self.$running.withValue(running) { try body() }
        }

        /// Whether this call is made inside a closure that runs on a connection of the store.
        var isRunningHere: Bool { Self.running.contains(ObjectIdentifier(self)) }

        private var running: Set<ObjectIdentifier> { Self.running.union([ObjectIdentifier(self)]) }

        private func checked<Result>(_ body: () throws -> Result) throws(PersistenceFailure) -> Result {
            guard owner.isOwner else { throw PersistenceFailure(.closed, "The store is closed.", store: path) }
            guard !Self.running.contains(ObjectIdentifier(self)) else {
                throw PersistenceFailure(
                    .reentrant, "The call is made inside a closure that runs on the store's connection.", store: path)
            }
            do {
                return try body()
            } catch {
                throw PersistenceFailure(database: error, store: path)
            }
        }

        /// A number that changes with each commit of another process, and never with a commit of this store.
        func otherWrites() throws(PersistenceFailure) -> Int64 {
            try checked {
                try pool.writeWithoutTransaction { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
            }
        }

        /// Copies the log into the file if it has grown, outside commits.
        private func checkpointIfLarge() {
            guard pages.takeCheckpoint() else { return }
            // Readers may hold parts of the log, which are copied after a later save.
            try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
        }

        /// Copies the log into the file, closes all connections, and releases the claim. It waits for running closures.
        func close() throws(PersistenceFailure) {
            try checked {
                // Readers are closed first. The last connection removes the log, so it must be one that may write.
                pool.invalidateReadOnlyConnections()
                try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                try pool.close()
                folder?.remove()
                owner.release()
            }
        }
    }
#endif
