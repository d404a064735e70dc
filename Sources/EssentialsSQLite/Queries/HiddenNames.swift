#if Persistence
    import EssentialsPersistence

    /// Names such as `rowid` that SQLite knows in tables only. While rows are pending, a table is read through a view.
    /// There these names are NULL without an error, and pending rows have no such number. So they are always refused.
    enum HiddenNames {
        private static let names: Set = ["rowid", "_rowid_", "oid"]

        /// Refuses a text in SQL that names one of them, with or without quotes, unless a column of a table has this
        /// name.
        ///
        /// - Throws: A failure with the reason `invalidQuery`.
        static func check(_ sql: String, _ schema: FileSchema) throws(PersistenceFailure) {
            for name in found(in: sql) {
                let isColumn = schema.tables.values.contains { table in
                    table.columns.contains { $0.name.lowercased() == name }
                }
                guard !isColumn else { continue }
                throw PersistenceFailure(
                    .invalidQuery, "The name \(name) cannot be used: pending rows have no such number.",
                    remedy: "Name the column of the primary key.")
            }
        }

        /// Refuses a query whose filter names one of them.
        static func check(_ query: RowQuery, _ schema: FileSchema) throws(PersistenceFailure) {
            if let filter = query.filter { try check(filter, schema) }
        }

        private static func check(_ filter: RowFilter, _ schema: FileSchema) throws(PersistenceFailure) {
            switch filter {
            case .all(let filters), .any(let filters): for filter in filters { try check(filter, schema) }
            case .not(let filter): try check(filter, schema)
            case .subquery(_, let query): try check(query, schema)
            case .sql(let text, _): try check(text, schema)
            case .comparison, .columns, .between, .contained, .text: break
            }
        }

        /// The names that a text contains, in lower case.
        static func found(in sql: String) -> Set<String> {
            var found: Set<String> = []
            for token in SQLScanner(sql) {
                switch token {
                case .word(let name), .name(let name): found.insert(name.lowercased())
                case .string, .blob, .number, .parameter, .symbol, .invalid: break
                }
            }
            return found.intersection(names)
        }
    }
#endif
