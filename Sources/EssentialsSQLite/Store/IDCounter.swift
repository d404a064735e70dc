#if Persistence
    import EssentialsPersistence
    import GRDB

    /// The counters of reserved ids: an internal table with the next id of each table.
    enum IDCounter {
        static let table = "essentials_ids"

        /// Reserves ids, and returns the first, within a writing transaction that the caller has begun.
        ///
        /// The ids follow the greatest id of the table, because rows may have ids that the program chose.
        ///
        /// - Throws: A failure with the reason `limit` if there are not enough ids, or an error of the database.
        static func reserve(_ count: Int, of table: TableSchema, _ db: Database) throws -> Int64 {
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS main.\(Self.table)(name TEXT PRIMARY KEY NOT NULL, next INTEGER NOT NULL)
                        STRICT, WITHOUT ROWID
                    """)
            let counted = try Int64.fetchOne(
                db, sql: "SELECT next FROM main.\(Self.table) WHERE name = ?", arguments: [table.name])
            let stored = try Int64.fetchOne(
                db,
                sql: "SELECT max(\(SQLBuilder.quoted(table.key))) FROM main.\(SQLBuilder.quoted(table.name))")
            let (free, isFull) = (stored ?? 0).addingReportingOverflow(1)
            let first = max(counted ?? 1, free, 1)
            let (next, isOverflow) = first.addingReportingOverflow(Int64(count))
            guard !isFull, !isOverflow else {
                throw PersistenceFailure(
                    .limit, "The table has no \(count) ids left.", remedy: "Choose ids below the greatest one.",
                    model: table.name)
            }
            try db.execute(
                sql: "INSERT OR REPLACE INTO main.\(Self.table)(name, next) VALUES (?, ?)",
                arguments: [table.name, next])
            return first
        }
    }

    extension ScopeWork {
        func reserveIDs(of table: String, count: Int) throws(PersistenceFailure) -> Int64 {
            try checkReserving()
            let table = try store.schema.table(table)
            return try store.database.writeWithinRead { try IDCounter.reserve(count, of: table, $0) }
        }
    }
#endif
