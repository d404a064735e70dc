#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Changes all rows that a query finds, by one statement.
    struct StatementExecution {
        private let table: TableSchema
        private let sql: String
        private let arguments: [StoredValue]
        private let isDeletion: Bool
        /// The ranges for the integer sums, which the statement returns after the id.
        private let ranges: [IntegerRange]

        /// - Returns: `nil` if the values cannot be assigned.
        /// - Throws: A failure with the reason `invalidQuery` or `limit`.
        init?(_ statement: RowStatement, _ store: OpenStore) throws(PersistenceFailure) {
            table = try store.schema.table(statement.query.table)
            // The statement would also find ids that are equal under the key's collation.
            guard !table.foldsKey else { return nil }
            try HiddenNames.check(statement.query, store.schema)
            isDeletion = statement.assignments == nil
            let name = PendingSQL.file(table.name)
            let key = SQLBuilder.quoted(table.key)
            var text = SQLBuilder()
            var ranges: [IntegerRange] = []
            var returned = key
            if let assignments = statement.assignments {
                // If a column has several values, the last one counts, as in SQL.
                guard !assignments.isEmpty else { return nil }
                text.append("UPDATE OR ABORT \(name) SET ")
                for (index, assignment) in assignments.enumerated() {
                    guard table.layout.index(of: assignment.column) != nil, assignment.column != table.key else {
                        return nil
                    }
                    let column = SQLBuilder.quoted(assignment.column)
                    text.append("\(index > 0 ? ", " : "")\(column) = ")
                    switch assignment.value {
                    case .value(let value?): text.append(value)
                    case .column(let other) where table.layout.index(of: other) != nil:
                        text.append(SQLBuilder.quoted(other))
                    // SQLite stores NULL for the sum of infinite values of both signs.
                    case .sum(.real(let value)?, _) where !value.isFinite: return nil
                    case .sum(let value?, let range):
                        text.append("\(column) + ")
                        text.append(value)
                        guard let range else { continue }
                        returned += ", \(column)"
                        ranges.append(range)
                    case .value, .column, .sum: return nil
                    }
                }
            } else {
                text.append("DELETE FROM \(name)")
            }
            text.append(" WHERE \(key) IN (")
            var query = statement.query
            (query.column, query.isDistinct) = (nil, false)
            try text.select(query, columns: [table.key], source: name)
            text.append(") RETURNING \(returned)")
            guard text.arguments.count <= SQLBuilder.maximumArguments else {
                throw PersistenceFailure(
                    .limit, "The query has more than \(SQLBuilder.maximumArguments) arguments.",
                    remedy: "Use a subquery, or several queries.", model: table.name)
            }
            (sql, arguments, self.ranges) = (text.sql, text.arguments, ranges)
        }

        /// Runs the statement.
        ///
        /// - Returns: The report, and the keys of the changed rows.
        /// - Throws: A failure with the reason `invalidModel` if a sum is out of its range, or an error of the
        ///   database. Then the caller rolls back.
        func run(_ db: Database) throws -> (report: SaveReport, keys: Set<RowKey>) {
            let before = db.totalChangesCount
            var keys: Set<RowKey> = []
            let statement = try db.cachedStatement(sql: sql)
            let cursor = try Row.fetchCursor(
                statement, arguments: StatementArguments(arguments.map(\.databaseValue)))
            while let row = try cursor.next() {
                let id: DatabaseValue = row[0]
                keys.insert(RowKey(table: table.name, id: StoredValue(id)))
                for (index, range) in ranges.enumerated() {
                    let value: DatabaseValue = row[index + 1]
                    switch value.storage {
                    case .null: continue
                    case .int64(let sum) where range.contains(sum): continue
                    // A sum that does not fit in 64 bits is a real number.
                    default: throw PersistenceFailure(.invalidModel, "A sum is out of range.", model: table.name)
                    }
                }
            }
            let count = keys.count
            let cascaded = max(db.totalChangesCount - before - count, 0)
            let report =
                isDeletion
                ? SaveReport(deleted: count, cascaded: cascaded) : SaveReport(updated: count, cascaded: cascaded)
            return (report, keys)
        }
    }
#endif
