#if Persistence
    package import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB
    import GRDBSQLite

    /// The facts about a store's file. They contain no values of rows.
    package struct StoreInformation: Sendable {
        /// An applied migration.
        package struct Applied: Sendable, Equatable {
            package let name: String
            /// The time in UTC, as SQLite wrote it.
            package let date: String
        }

        package struct Table: Sendable, Equatable {
            package let name: String
            /// `nil` if counting the rows failed or took too long.
            package let rows: Int64?
        }

        /// A copy beside the store.
        package struct Copy: Sendable, Equatable {
            /// The name in the folder of the store.
            package let name: String
            package let bytes: Int64
            /// The time of the last change, in seconds since 1970.
            package let seconds: Int64
        }

        /// The maximum number of listed tables, migrations and copies.
        package static let listLimit = 1_000

        /// The sizes of the file and of its log in bytes.
        package let bytes, logBytes: Int64
        package let pageSize, pages, freePages: Int64
        /// `wal`, or `rollback` for a file that a store has not opened yet.
        package let journalMode: String
        package let userVersion: Int64
        package let owner: StoreOwnership?
        package let migrations: [Applied]
        /// The tables, sorted by name, without SQLite's own.
        package let tables: [Table]
        /// The backups made before migrations, and the files that restorations replaced, sorted by name.
        package let backups: [Copy]
        /// Whether a list was cut at ``listLimit``.
        package let isCut: Bool

        /// The version of the library, such as `3.40.1`.
        package static var sqliteVersion: String { String(cString: sqlite3_libversion()) }
        /// Whether the library can lose committed pages if one connection copies the log while another connection
        /// writes.
        package static var hasLogResetFault: Bool { hasLogResetFault(version: sqlite3_libversion_number()) }

        /// Whether a version has the fault: 3.7.0 to 3.51.2, except 3.50.7 and 3.44.6 and their later patch releases.
        static func hasLogResetFault(version: Int32) -> Bool {
            switch version {
            case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
            default: (3_007_000...3_051_002).contains(version)
            }
        }
    }

    extension StoreInspection {
        /// The time after which no more tables are counted.
        private static let countingLimit = Duration.seconds(10)

        /// Reads the facts about the file. Each table is counted, which takes as long as reading its smallest index.
        package func information() throws(PersistenceFailure) -> StoreInformation {
            let (copies, hasMoreCopies) = copies
            return try read { db in
                let names = try tableNames(db)
                let migrations = try migrations(db)
                let limit = StoreInformation.listLimit
                return StoreInformation(
                    bytes: FileState(path).bytes, logBytes: FileState(path + "-wal").bytes,
                    pageSize: try number(db, "page_size"), pages: try number(db, "page_count"),
                    freePages: try number(db, "freelist_count"), journalMode: Self.journalMode(db),
                    userVersion: try number(db, "user_version"), owner: owner,
                    migrations: Array(migrations.prefix(limit)), tables: count(names.prefix(limit), db),
                    backups: copies,
                    isCut: names.count > limit || migrations.count > limit || hasMoreCopies)
            }
        }

        /// The names of the tables and views, sorted, without SQLite's own: at most the limit of a list.
        package func relationNames() throws(PersistenceFailure) -> [String] {
            try read { db in Array(try relationNames(db).prefix(StoreInformation.listLimit)) }
        }

        func relationNames(_ db: Database) throws -> [String] {
            try names(db, "type IN ('table', 'view')")
        }

        private func tableNames(_ db: Database) throws -> [String] { try names(db, "type = 'table'") }

        private func names(_ db: Database, _ condition: String) throws -> [String] {
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name FROM main.sqlite_schema WHERE \(condition) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    ORDER BY name LIMIT \(StoreInformation.listLimit + 1)
                    """
            ).compactMap { $0.text(0) }
        }

        private func number(_ db: Database, _ pragma: String) throws -> Int64 {
            try Row.fetchOne(db, sql: "PRAGMA main.\(pragma)")?.integer(0) ?? 0
        }

        private func count(_ names: some Sequence<String>, _ db: Database) -> [StoreInformation.Table] {
            let end = ContinuousClock.now + Self.countingLimit
            return names.map { name in
                let row = try? ReadLimit.run(end - .now) { () throws in
                    try Row.fetchOne(db, sql: "SELECT count(*) FROM main.\(SQLBuilder.quoted(name))")
                }
                return StoreInformation.Table(name: name, rows: row?.integer(0))
            }
        }

        func migrations(_ db: Database) throws -> [StoreInformation.Applied] {
            let columns = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main')", arguments: [MigrationRunner.table]
            ).compactMap { $0.text(0) }
            guard Set(columns).isSuperset(of: ["number", "name", "date"]) else { return [] }
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT name, date FROM main.\(MigrationRunner.table) ORDER BY number
                    LIMIT \(StoreInformation.listLimit + 1)
                    """
            ).map { StoreInformation.Applied(name: $0.text(0) ?? "", date: $0.text(1) ?? "") }
        }

        /// The mode in the file's header. The pragma returns the mode of the connection, which may read without a log.
        private static func journalMode(_ db: Database) -> String {
            var pointer: UnsafeMutablePointer<sqlite3_file>?
            var format: UInt8 = 0
            guard
                sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
                let pointer, let read = pointer.pointee.pMethods?.pointee.xRead,
                read(pointer, &format, 1, 18) == SQLITE_OK
            else { return "rollback" }
            return format == 2 ? "wal" : "rollback"
        }

        private var copies: (list: [StoreInformation.Copy], isCut: Bool) {
            let (folder, file) = StorePath.parts(of: path)
            let prefixes = [".before-", StoreRestoration.keptMark].map { file + $0 }
            let directory = FileDirectory(absolute: folder)
            let names = try? DirectoryNames.read(folder) { name in
                prefixes.contains(where: name.hasPrefix)
                    && !["-wal", "-shm", "-journal"].contains(where: name.hasSuffix)
            }
            var copies: [StoreInformation.Copy] = []
            for name in names ?? [] {
                guard let status = try? FileStatus(of: directory.path(of: name)) else { continue }
                if copies.count == StoreInformation.listLimit { return (copies.sorted { $0.name < $1.name }, true) }
                copies.append(
                    StoreInformation.Copy(name: name, bytes: status.size, seconds: status.modified.seconds))
            }
            return (copies.sorted { $0.name < $1.name }, false)
        }
    }
#endif
