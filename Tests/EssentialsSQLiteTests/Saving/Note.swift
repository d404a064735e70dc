#if Persistence
    import EssentialsPersistence

    @testable import EssentialsSQLite

    /// A row with two independent columns. A year of 90 or more violates a condition of its table.
    struct Note: PersistentModel, Hashable {
        var id: Int64
        var title: String?
        var year: Int

        static let table = "note"
        static let columns = Columns()
        static let migration = Migration(
            "1 notes",
            sql: """
                CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, title TEXT,
                    year INTEGER NOT NULL CONSTRAINT early CHECK (year < 90)) STRICT
                """)

        struct Columns: ModelColumns {
            let id = Column<Note, Int64>("id")
            let title = Column<Note, String?>("title")
            let year = Column<Note, Int>("year")
            var all: [ModelColumn<Note>] { [id.erased, title.erased, year.erased] }
        }

        var isValid: Bool { year < 90 }
    }
#endif
