#if Persistence
    import FoundationEssentials
    import GRDB

    /// A file with films and studios, one connection that writes it, and a read-only connection with temporary tables.
    ///
    /// It uses GRDB directly for the features of SQLite that a scope with pending rows needs. So its tests show whether
    /// a version of SQLite or GRDB still supports them.
    struct MountedFile {
        static let schema = """
            CREATE TABLE studio(id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL,
                studioID BLOB REFERENCES studio(id)) STRICT, WITHOUT ROWID;
            CREATE INDEX film_year ON film(year);
            CREATE INDEX film_studio ON film(studioID);
            INSERT INTO studio VALUES (x'A1', 'Ufa'), (x'A2', 'Nero');
            INSERT INTO film VALUES (x'01', 'Metropolis', 1926, x'A1'), (x'02', 'M', 1931, x'A2'),
                (x'03', 'Faust', 1926, x'A1');
            """
        static let mounting = """
            CREATE TEMPORARY TABLE essentials_rows_film(id BLOB PRIMARY KEY NOT NULL, title TEXT, year INTEGER,
                studioID BLOB) WITHOUT ROWID;
            CREATE INDEX temp.essentials_film_year ON essentials_rows_film(year);
            CREATE INDEX temp.essentials_film_studio ON essentials_rows_film(studioID);
            CREATE TEMPORARY TABLE essentials_gone_film(id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
            CREATE TEMPORARY VIEW film AS
                SELECT id, title, year, studioID FROM main.film AS b
                WHERE NOT EXISTS (SELECT 1 FROM temp.essentials_gone_film AS g WHERE g.id = b.id)
                UNION ALL SELECT id, title, year, studioID FROM temp.essentials_rows_film;
            """

        let folder: TemporaryFolder
        let writer: DatabaseQueue
        let mounted: DatabaseQueue

        init() throws {
            folder = try TemporaryFolder()
            var writing = Configuration()
            writing.journalMode = .wal
            writing.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
            writer = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: writing)
            try writer.write { try $0.execute(sql: Self.schema) }
            var reading = Configuration()
            reading.readonly = true
            reading.prepareDatabase {
                try $0.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512")
            }
            mounted = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: reading)
        }

        /// Creates the temporary tables and the view.
        func mount() throws {
            try mounted.inDatabase { try $0.execute(sql: Self.mounting) }
        }

        /// Runs a deferred transaction of the mounted connection that has pinned its snapshot.
        func pinned<Result>(_ body: (Database) throws -> Result) throws -> Result {
            try mounted.inDatabase { db in
                try db.beginTransaction(.deferred)
                do {
                    _ = try Row.fetchOne(db, sql: "SELECT 1 FROM main.sqlite_schema")
                    let result = try body(db)
                    try db.commit()
                    return result
                } catch {
                    try db.rollback()
                    throw error
                }
            }
        }

        /// Makes the film with this id pending: changed to these values, or deleted.
        static func pend(_ id: UInt8, _ film: (title: String, year: Int)?, _ db: Database) throws {
            let id = Data([id])
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO temp.essentials_gone_film VALUES (?)")
                .execute(arguments: [id])
            guard let film else {
                return try db.cachedStatement(sql: "DELETE FROM temp.essentials_rows_film WHERE id = ?")
                    .execute(arguments: [id])
            }
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO temp.essentials_rows_film VALUES (?, ?, ?, x'A1')")
                .execute(arguments: [id, film.title, film.year])
        }

        static func titles(_ db: Database) throws -> [String] {
            try String.fetchAll(db, sql: "SELECT title FROM film ORDER BY title")
        }

        static func plan(_ sql: String, _ db: Database) throws -> [String] {
            try String.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, adapter: SuffixRowAdapter(fromIndex: 3))
        }
    }
#endif
