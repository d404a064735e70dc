#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite

    /// One side of a pair of rows whose amounts sum to zero.
    struct Posting: PersistentModel, Hashable {
        var id: Int64
        var lane: Int
        /// The step that has created the row.
        var step: Int
        var amount: Int
        var note: String

        static let table = "posting"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Posting, Int64>("id")
            let lane = Column<Posting, Int>("lane")
            let step = Column<Posting, Int>("step")
            let amount = Column<Posting, Int>("amount")
            let note = Column<Posting, String>("note")
            var all: [ModelColumn<Posting>] { [id.erased, lane.erased, step.erased, amount.erased, note.erased] }
        }

        /// The service of a store of postings and progress.
        ///
        /// - Parameters:
        ///   - durability: What a save survives.
        ///   - more: Migrations after the one that creates the tables.
        static func service(
            _ path: String, _ durability: SQLiteStore.Durability = .process, more: [Migration] = []
        ) -> SQLitePersistenceService {
            var store = SQLiteStore(path: path, models: [Posting.self, Progress.self])
            store.durability = durability
            return SQLitePersistenceService(
                store,
                migrations: [
                    Migration(
                        "1 postings",
                        sql: """
                            CREATE TABLE posting(id INTEGER PRIMARY KEY NOT NULL, lane INTEGER NOT NULL,
                                step INTEGER NOT NULL, amount INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
                            CREATE INDEX posting_step ON posting(lane, step);
                            CREATE TABLE progress(id INTEGER PRIMARY KEY NOT NULL, step INTEGER NOT NULL) STRICT;
                            """)
                ] + more)
        }
    }

    /// The last step of a lane, in a table of its own.
    struct Progress: PersistentModel, Hashable {
        /// The lane.
        var id: Int64
        var step: Int

        static let table = "progress"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Progress, Int64>("id")
            let step = Column<Progress, Int>("step")
            var all: [ModelColumn<Progress>] { [id.erased, step.erased] }
        }
    }
#endif
