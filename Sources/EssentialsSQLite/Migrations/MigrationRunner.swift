#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import GRDB

    /// Brings the tables of a store up to date.
    struct MigrationRunner {
        /// The result of a run.
        struct Report: Sendable, Equatable {
            /// The names of the migrations that this run applied.
            var applied: [String] = []
            /// The names of migrations whose text was edited after they had run.
            var edited: [String] = []
            /// The path of the backup that was made before the migrations, if the store had data.
            var backup: String?
        }

        static let table = "essentials_migrations"

        let store: String
        let migrations: [Migration]

        /// Runs the missing migrations.
        ///
        /// - Throws: A failure with the reason `newerSchema`, or with `migration` and the error as `underlying`.
        func run(_ writer: some DatabaseWriter) throws -> Report {
            let plan = try writer.read { try self.plan($0) }
            var report = Report(edited: plan.edited)
            guard let first = plan.pending.first else { return report }
            if try writer.read({ try Self.hasData($0) }) {
                report.backup = try MigrationBackup(store: store).make(of: writer, before: migrations[first].name)
            }
            for index in plan.pending {
                try run(migrations[index], writer)
                report.applied.append(migrations[index].name)
            }
            return report
        }

        /// Whether the store lacks migrations. Throws if these migrations do not match those of the store.
        func isBehind(_ db: Database) throws -> Bool { try !plan(db).pending.isEmpty }

        /// Checks a store that cannot be written, and throws if migrations are missing.
        func checkAll(_ db: Database) throws -> Report {
            let plan = try plan(db)
            guard let first = plan.pending.first else { return Report(edited: plan.edited) }
            throw PersistenceFailure(
                .readOnly, "The migration \(migrations[first].name) is missing, and the store cannot be written.",
                store: store)
        }

        private func plan(_ db: Database) throws -> MigrationPlan {
            let known = migrations.map { MigrationPlan.Step(name: $0.name, digest: $0.digest) }
            return try MigrationPlan(known: known, applied: Self.applied(db))
        }

        private func run(_ migration: Migration, _ writer: some DatabaseWriter) throws {
            try writer.writeWithoutTransaction { db in
                // Rebuilding a table would lose rows to cascades. Foreign keys are checked at the end.
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                defer { try? db.execute(sql: "PRAGMA foreign_keys = ON") }
                do {
                    try db.inTransaction(.immediate) {
                        try db.execute(
                            sql: """
                                CREATE TABLE IF NOT EXISTS \(Self.table)(number INTEGER PRIMARY KEY,
                                    name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, date TEXT NOT NULL) STRICT
                                """)
                        try migration.run(db)
                        try db.checkForeignKeys()
                        try db.execute(
                            sql: """
                                INSERT INTO \(Self.table)(name, digest, date)
                                VALUES (?, ?, strftime('%Y-%m-%d %H:%M:%f', 'now'))
                                """, arguments: [migration.name, migration.digest])
                        return .commit
                    }
                } catch {
                    throw failure(migration, error)
                }
            }
        }

        private func failure(_ migration: Migration, _ error: any Error) -> PersistenceFailure {
            let cause = PersistenceFailure(database: error, store: store)
            // These causes are not the fault of the migration.
            let reason: PersistenceFailure.Reason =
                [.full, .readOnly, .corrupt, .busy].contains(cause.reason) ? cause.reason : .migration
            return PersistenceFailure(
                reason, "The migration \(migration.name) has failed. \(cause.message)", store: store, underlying: error)
        }

        private static func applied(_ db: Database) throws -> [MigrationPlan.Step] {
            guard try db.tableExists(table, in: "main") else { return [] }
            return try Row.fetchAll(db, sql: "SELECT name, digest FROM main.\(table) ORDER BY number").map { row in
                MigrationPlan.Step(name: row[0], digest: row[1])
            }
        }

        private static func hasData(_ db: Database) throws -> Bool {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM main.sqlite_schema") != 0
        }
    }
#endif
