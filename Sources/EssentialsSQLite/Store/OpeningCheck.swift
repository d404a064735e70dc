#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Checks a file by reading, before it is opened for writing.
    ///
    /// A file that is damaged, newer, not a store, or does not fit the models is refused before a byte of it is
    /// written, and before a new file is created beside it.
    struct OpeningCheck {
        let store: SQLiteStore
        let runner: MigrationRunner

        private var path: String { store.path }

        /// - Throws: A failure with the reason `corrupt`, `newerSchema`, `migration` or `schemaMismatch`, or an error
        ///   of the database.
        func run() throws {
            guard !isEmpty else { return }
            if isAtRest {
                let before = FileState(path)
                let result = Result { () throws in try read(ReadOnlyStore.uri(path)) }
                // Without locks, a program that begins to write can only be noticed by the state of the file.
                if isAtRest, FileState(path) == before { return try result.get() }
            }
            do {
                try read(ReadOnlyStore.uri(path, "mode=ro"))
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                // A change was interrupted while the file had no log, for example during the creation of the store. It
                // must be undone before the file can be read, and only a connection that may write can undo it.
                try read(path, isReadOnly: false)
            }
        }

        /// Whether the file has no content to read.
        private var isEmpty: Bool { FileState(path).bytes == 0 && isAtRest }

        /// Whether the file has no log and no journal of an interrupted change. SQLite creates files beside it unless
        /// the file is declared immutable. That is true then, because the caller has claimed the store.
        private var isAtRest: Bool { FileState(path + "-wal").bytes == 0 && FileState(path + "-journal").bytes == 0 }

        private func read(_ name: String, isReadOnly: Bool = true) throws {
            var configuration = Configuration()
            configuration.label = "ServiceEssentials.opening"
            configuration.readonly = isReadOnly
            configuration.busyMode = StoreDatabase.busyMode(store)
            let queue = try DatabaseQueue(path: name, configuration: configuration)
            defer { try? queue.close() }
            try queue.read { db in
                try Self.checkContent(of: path, db)
                let isBehind = try runner.isBehind(db)
                try Self.verify(store, db)
                if !isBehind { try SchemaCheck(models: store.models).run(db) }
            }
        }

        /// Throws if SQLite sees an empty database although the file is not empty, as it does with some contents.
        static func checkContent(of path: String, _ db: Database) throws {
            guard try Int64.fetchOne(db, sql: "PRAGMA main.page_count") == 0, FileState(path).bytes > 0 else { return }
            throw PersistenceFailure(
                .corrupt, "The file is neither empty nor a database of SQLite.", remedy: "Check the path.", store: path)
        }

        /// Looks for damage, as thoroughly as the store requires.
        static func verify(_ store: SQLiteStore, _ db: Database) throws {
            let check: String
            switch store.verification {
            case .never: return
            case .quick: check = "quick_check"
            case .full: check = "integrity_check"
            }
            // The finding names tables, indexes and pages, but no values.
            let finding = try String.fetchOne(db, sql: "PRAGMA main.\(check)(1)")
            guard finding != "ok" else { return }
            throw PersistenceFailure(.corrupt, "The store is damaged: \(finding ?? "no finding").", store: store.path)
        }
    }
#endif
