#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import GRDB

    @testable import EssentialsSQLite

    /// A row whose id is a UUID, with dates and nested values, and with a column that only the table has.
    struct Showing: PersistentModel, Hashable {
        struct Hall: Codable, Hashable {
            var name: String
            var seats: [String: Int]
        }

        var id = UUID()
        var title: String
        var begin: Date
        var end: Date?
        var hall: Hall
        var tags: [String]?

        static let table = "showing"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Showing, UUID>("id")
            let title = Column<Showing, String>("title")
            let begin = Column<Showing, Date>("begin")
            let end = Column<Showing, Date?>("end")
            let hall = Column<Showing, Hall>(json: "hall")
            let tags = Column<Showing, [String]?>(json: "tags")
            var all: [ModelColumn<Showing>] {
                [id.erased, title.erased, begin.erased, end.erased, hall.erased, tags.erased]
            }
        }

        /// The columns of the table in order.
        static let names = ["id", "title", "begin", "end", "hall", "remark", "tags"]

        static let migration = Migration(
            "1 showings",
            sql: """
                CREATE TABLE showing(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, begin TEXT NOT NULL, end TEXT,
                    hall TEXT NOT NULL, remark TEXT NOT NULL DEFAULT 'none', tags TEXT) STRICT, WITHOUT ROWID;
                INSERT INTO showing VALUES (x'000102030405060708090a0b0c0d0e0f', 'M', '2026-11-24T17:05:00.123987Z',
                    '2026-11-24', '{ "seats": {"b": 1, "a" : 2},\n"name":"\\u0041/B" }', 'by hand', '[ "x" ]');
                """)

        /// The id of the row that SQL has written.
        static let written = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

        /// A service of a temporary store with this row.
        static func service() -> SQLitePersistenceService {
            SQLitePersistenceService(.temporary(models: [Showing.self]), migrations: [migration])
        }
    }

    extension SQLitePersistenceService {
        /// The values of all columns of a showing, as they are in the file; `nil` if the row does not exist.
        func values(of id: UUID) throws -> [StoredValue]? {
            try core.openStore().database.read { db in
                let row = try Row.fetchOne(
                    db, sql: "SELECT \(Showing.names.joined(separator: ", ")) FROM showing WHERE id = ?",
                    arguments: [id.storedValue?.databaseValue])
                return row.map { $0.databaseValues.map { StoredValue($0) } }
            }
        }

        /// Changes the file with SQL, as another version of the program could have done.
        func execute(_ sql: String) throws {
            try core.openStore().database.write { try $0.execute(sql: sql) }
        }
    }
#endif
