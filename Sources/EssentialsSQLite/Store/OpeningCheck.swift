#if Persistence
    import EssentialsPersistence
    import GRDB

    /// What reading alone finds out about a file that is to be opened for writing.
    ///
    /// A file that is damaged, newer, no store, or does not fit the models is refused before a byte of it is written, and
    /// without a new file beside it.
    struct OpeningCheck {
        let store: SQLiteStore
        let runner: MigrationRunner

        private var path: String { store.path }

        /// - Throws: A failure with the reason `corrupt`, `newerSchema`, `migration` or `schemaMismatch`, or an error of the
        ///   database.
        func run() throws {
            guard !isEmpty else { return }
            if isAtRest {
                let before = FileState(path)
                let result = Result { () throws in try read(ReadOnlyStore.uri(path)) }
                // Without locks, a program that begins to write shows in the file alone.
                if isAtRest, FileState(path) == before { return try result.get() }
            }
            do {
                try read(ReadOnlyStore.uri(path, "mode=ro"))
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                // A change was interrupted while the file had no log, as when the store is created. It must be undone before
                // the file can be read, and only a connection that may write can undo it.
                try read(path, isReadOnly: false)
            }
        }

        /// Whether the file has no content that could be read.
        private var isEmpty: Bool { FileState(path).bytes == 0 && isAtRest }

        /// Whether no log and no journal of an interrupted change belong to the file. SQLite creates files beside it unless
        /// it is told that nothing changes, which is true then: the caller has claimed the store.
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

        /// Throws if the file is taken for an empty database although it is not empty, as SQLite does with some bytes.
        static func checkContent(of path: String, _ db: Database) throws {
            guard try Int64.fetchOne(db, sql: "PRAGMA main.page_count") == 0, FileState(path).bytes > 0 else { return }
            throw PersistenceFailure(
                .corrupt, "The file is neither empty nor a database of SQLite.", remedy: "Check the path.", store: path)
        }

        /// Looks for damage, as far as the store wants it.
        static func verify(_ store: SQLiteStore, _ db: Database) throws {
            let check: String
            switch store.verification {
            case .never: return
            case .quick: check = "quick_check"
            case .full: check = "integrity_check"
            }
            // The findings name tables, indexes and pages, and no values.
            let finding = try String.fetchOne(db, sql: "PRAGMA main.\(check)(1)")
            guard finding != "ok" else { return }
            throw PersistenceFailure(.corrupt, "The store is damaged: \(finding ?? "no finding").", store: store.path)
        }
    }
#endif
