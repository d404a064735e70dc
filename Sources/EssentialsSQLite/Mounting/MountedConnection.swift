#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import GRDB

    /// A read-only connection with temporary tables for the pending rows of one scope at a time.
    final class MountedConnection: Sendable {
        /// A connection that has written more rows than this is closed rather than emptied. SQLite keeps the memory of
        /// temporary tables as long as their connection is open.
        static let maximumWritten = 4096

        private let schema: FileSchema
        private let queue: DatabaseQueue
        private let state = Mutex(MountState())
        private let isDamaged = Mutex(false)

        /// Opens a connection.
        init(path: String, schema: FileSchema, busyMode: Database.BusyMode) throws {
            var configuration = Configuration()
            configuration.busyMode = busyMode
            configuration.label = "ServiceEssentials.mounted"
            // Not query_only, which forbids writing temporary tables.
            configuration.readonly = true
            configuration.foreignKeysEnabled = false
            // If a transaction cannot be ended, the connection becomes unusable, but the program must not trap.
            configuration.allowsUnsafeTransactions = true
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512")
                ReadLimit.watch(db)
            }
            self.schema = schema
            queue = try DatabaseQueue(path: path, configuration: configuration)
        }

        /// Whether the state of the temporary tables is known.
        var isUsable: Bool { isDamaged.withLock { !$0 } }
        /// Whether much memory would stay in use after emptying the tables.
        var isLarge: Bool { state.withLock { $0.written > Self.maximumWritten } }

        /// Runs a closure in a transaction over one state of the file and the pending rows of a scope.
        func read<Result>(
            scope: UInt64, pin: (() throws -> Void) throws -> OverlayMachine, _ body: (MountedReads) throws -> Result
        ) throws -> Result {
            try transaction { db in
                let reads = MountedReads(db: db, schema: schema, state: state.withLock { $0 })
                try reads.begin(scope: scope, pin: pin)
                let result = try body(reads)
                try reads.end()
                return (result, reads.state)
            }
        }

        /// Removes all rows from the temporary tables, and keeps the tables.
        func clear() throws {
            try transaction { db in
                var state = state.withLock { $0 }
                try MountedReads.clear(state.mounted, schema, db)
                state.clear()
                return ((), state)
            }
        }

        /// Waits for running reads, then closes the connection.
        func close() { try? queue.close() }

        /// Runs a closure in a transaction. The returned state becomes valid only if the transaction is committed.
        ///
        /// A rollback undoes changes of rows and also the creation of temporary tables, so that the previous state is
        /// valid again.
        private func transaction<Result>(_ body: (Database) throws -> (Result, MountState)) throws -> Result {
            try queue.inDatabase { db in
                do {
                    try db.beginTransaction(.deferred)
                    let (result, state) = try body(db)
                    try db.commit()
                    self.state.withLock { $0 = state }
                    return result
                } catch {
                    recover(db)
                    throw error
                }
            }
        }

        private func recover(_ db: Database) {
            // Some errors make SQLite end the transaction by itself. Rows that were written after that are unknown.
            let isKnown = db.isInsideTransaction
            try? db.rollback()
            if !isKnown || db.isInsideTransaction { isDamaged.withLock { $0 = true } }
        }
    }
#endif
