#if Persistence
    import EssentialsPersistence

    /// A query as SQL with arguments.
    struct SelectStatement: Equatable {
        /// The text. Queries of the same structure have the same text, so that prepared statements are reused.
        let sql: String
        let arguments: [StoredValue]

        /// The statement that fetches rows.
        ///
        /// - Parameters:
        ///   - node: The query.
        ///   - columns: The columns to fetch if the query does not name one.
        ///   - source: The table in SQL, if it is not that of the query. It must have the same name.
        init(_ node: RowQuery, columns: [String], source: String? = nil) throws(PersistenceFailure) {
            var text = SQLBuilder()
            try text.select(node, columns: columns, source: source)
            try self.init(text, node)
        }

        /// The statement that counts the rows, or the values, that a query finds.
        static func counting(
            _ node: RowQuery, source: String? = nil
        ) throws(PersistenceFailure) -> SelectStatement {
            var text = SQLBuilder()
            if node.limit == nil, node.offset == 0, node.column == nil {
                text.append("SELECT count(*)")
                try text.from(node, source: source)
            } else {
                text.append("SELECT count(*) FROM (")
                try text.select(node, columns: [node.key], source: source)
                text.append(")")
            }
            return try SelectStatement(text, node)
        }

        /// The functions over the values of one column. NULL is skipped, and without values the result is NULL.
        enum Aggregate: String, Sendable, CaseIterable {
            case sum, min, max
            case average = "avg"
        }

        /// The statement that computes one value from the column of a query. If the query names none, the key is used.
        static func aggregating(
            _ node: RowQuery, _ function: Aggregate, source: String? = nil
        ) throws(PersistenceFailure) -> SelectStatement {
            var text = SQLBuilder()
            try text.ofValues(node, source: source) { "SELECT \(function.rawValue)(\($0))" }
            return try SelectStatement(text, node)
        }

        /// The statement that counts the values of the column of a query that are not NULL.
        static func countingNumbers(_ node: RowQuery, source: String?) throws(PersistenceFailure) -> SelectStatement {
            var text = SQLBuilder()
            try text.ofValues(node, source: source) { "SELECT count(\($0))" }
            return try SelectStatement(text, node)
        }

        /// The statement that finds each value of the column of a query and its number of occurrences, smallest value
        /// first.
        static func countingValues(
            _ node: RowQuery, source: String? = nil
        ) throws(PersistenceFailure) -> SelectStatement {
            var text = SQLBuilder()
            var value = ""
            try text.ofValues(node, source: source) {
                value = $0
                return "SELECT \($0), count(*)"
            }
            text.append(" GROUP BY \(value) ORDER BY \(value)")
            return try SelectStatement(text, node)
        }

        /// The statement that sums the column of a query for each value of another one, and counts the summands.
        static func summingValues(
            _ node: RowQuery, by column: String, source: String?
        ) throws(PersistenceFailure) -> SelectStatement {
            guard !node.isDistinct else {
                throw PersistenceFailure(
                    .invalidQuery, "Distinct values are not summed by another column.",
                    remedy: "Sum all values.", model: node.table)
            }
            var (text, rows) = (SQLBuilder(), node)
            rows.column = nil
            text.append("WITH essentials_values(essentials_key, essentials_value) AS (")
            try text.select(rows, columns: [column, node.column ?? node.key], source: source)
            text.append(
                """
                ) SELECT essentials_key, sum(essentials_value), count(essentials_value) FROM essentials_values \
                GROUP BY essentials_key ORDER BY essentials_key
                """)
            return try SelectStatement(text, node)
        }

        /// The statement that looks up rows by their ids. The number of ids is limited by ``RowQuery/maximumValues``.
        static func rows(
            of table: String, key: String, columns: [String], ids: ArraySlice<StoredValue>,
            source: String? = nil
        ) -> SelectStatement {
            var text = SQLBuilder()
            text.append(lookup(columns, source ?? SQLBuilder.quoted(table), key))
            text.append(" IN (")
            text.append(list: Array(ids))
            text.append(")")
            return SelectStatement(sql: text.sql, arguments: text.arguments)
        }

        /// The text of the statement that looks up one row by its id.
        ///
        /// - Parameter source: The table in SQL.
        static func lookup(of source: String, key: String, columns: [String]) -> String {
            lookup(columns, source, key) + " = ?"
        }

        private static func lookup(_ columns: [String], _ source: String, _ key: String) -> String {
            let list = columns.map { SQLBuilder.quoted($0) }.joined(separator: ", ")
            return "SELECT \(list) FROM \(source) WHERE \(SQLBuilder.quoted(key))"
        }

        /// The statement that looks up one row of the file by its id.
        static func row(of table: TableSchema, id: StoredValue) -> SelectStatement {
            SelectStatement(sql: table.lookup, arguments: [id])
        }

        private init(_ text: SQLBuilder, _ node: RowQuery) throws(PersistenceFailure) {
            guard text.arguments.count <= SQLBuilder.maximumArguments else {
                throw PersistenceFailure(
                    .limit, "The query has more than \(SQLBuilder.maximumArguments) arguments.",
                    remedy: "Use a subquery, or several queries.", model: node.table)
            }
            self.init(sql: text.sql, arguments: text.arguments)
        }

        private init(sql: String, arguments: [StoredValue]) {
            self.sql = sql
            self.arguments = arguments
        }
    }
#endif
