#if Persistence
    import Dispatch
    import GRDB

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// A studio of films.
    struct Studio: PersistentModel, Hashable {
        var id: Int64
        var name: String

        static let table = "studio"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Studio, Int64>("id")
            let name = Column<Studio, String>("name")
            var all: [ModelColumn<Studio>] { [id.erased, name.erased] }
        }
    }

    /// A film. Its table has one column more than the model.
    struct Film: PersistentModel, Hashable {
        var id: Int64
        var title: String
        var year: Int?
        var studio: Int64?

        static let table = "film"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Film, Int64>("id")
            let title = Column<Film, String>("title")
            let year = Column<Film, Int?>("year")
            let studio = Column<Film, Int64?>("studio")
            var all: [ModelColumn<Film>] { [id.erased, title.erased, year.erased, studio.erased] }
        }
    }

    /// A file with films, studios and samples, a connection that writes it, and pools for pending rows over it.
    struct MountFixture {
        static let models = [ModelSchema(Film.self), ModelSchema(Studio.self), ModelSchema(Sample.self)]
        static let tables = """
            CREATE TABLE studio(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
            CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL COLLATE NOCASE, note ANY, year INTEGER,
                studio INTEGER REFERENCES studio(id)) STRICT;
            CREATE INDEX film_year ON film(year);
            CREATE INDEX film_studio ON film(studio);
            INSERT INTO studio VALUES (1, 'Ufa'), (2, 'Nero');
            INSERT INTO film VALUES (1, 'Metropolis', '1', 1926, 1), (2, 'M', 2, 1931, 2), (3, 'Faust', NULL, 1926, 1);
            """

        let folder: TemporaryFolder
        let writer: DatabaseQueue
        let schema: FileSchema

        init() throws {
            folder = try TemporaryFolder()
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.prepareDatabase {
                try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF")
            }
            writer = try DatabaseQueue(path: folder.file("store.sqlite"), configuration: configuration)
            schema = try writer.write { db in
                try db.execute(sql: Self.tables + Sample.schema)
                return try FileSchema.read(db, models: Self.models)
            }
        }

        func pool(_ maximum: Int = 8) -> MountPool {
            MountPool(path: folder.file("store.sqlite"), schema: schema, maximum: maximum, timeout: .seconds(30))
        }

        func execute(_ sql: String) throws { try writer.write { try $0.execute(sql: sql) } }

        /// The row of a film with all columns of the table.
        func film(_ id: Int64, _ title: String, _ year: Int64?, studio: Int64? = nil) throws -> StoredRow {
            try StoredRow(
                schema.table("film").layout,
                [
                    .integer(id), .text(title), .null, year.map { .integer($0) } ?? .null,
                    studio.map { .integer($0) } ?? .null,
                ]
            ).orThrow()
        }

        func studio(_ id: Int64, _ name: String) throws -> StoredRow {
            try StoredRow(schema.table("studio").layout, [.integer(id), .text(name)]).orThrow()
        }
    }

    extension Optional {
        struct Missing: Error {}

        func orThrow() throws -> Wrapped {
            guard let self else { throw Missing() }
            return self
        }
    }

    extension OverlayLevel {
        /// Makes a row pending. Without a row, the row of the file becomes deleted.
        mutating func put(_ row: StoredRow?, _ table: String, _ id: Int64, stored: StoredRow? = nil) throws {
            try place(row, at: RowKey(table: table, id: .integer(id)), below: stored)
        }
    }

    extension MountPool {
        /// Reads over levels that belong to the latest state of the file.
        func read<Result>(
            _ scope: UInt64, _ levels: [OverlayLevel], _ body: (MountedReads) throws -> Result
        ) throws -> Result {
            try read(
                scope: scope,
                pin: { pin in
                    try pin()
                    return try OverlayMachine(levels: levels)
                }, body)
        }

        func titles(_ scope: UInt64, _ levels: [OverlayLevel]) throws -> [StoredValue] {
            try read(scope, levels) { try $0.titles() }
        }
    }

    extension StateReads {
        func titles() throws -> [StoredValue] {
            try values(Film.all.sorted { [$0.title.ascending] }.values { $0.title }.node)
        }

        /// The number of temporary tables and views.
        func temporaryObjects() throws -> Int {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_temp_master WHERE type != 'index'") ?? -1
        }
    }
#endif
