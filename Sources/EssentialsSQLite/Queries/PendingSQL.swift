#if Persistence
    import EssentialsPersistence

    /// The statements that create temporary tables and a view, which put the pending rows of a scope over a table of
    /// the file.
    ///
    /// For a table `film`, `essentials_rows_film` has the pending rows, and `essentials_gone_film` has the ids of all
    /// entries, which hide the rows of the file. The view is called `film`. SQLite looks up names among temporary
    /// objects first, so any SQL over `film` sees the rows of the scope.
    struct PendingSQL {
        /// The column of the ids that hide rows. No column of the table has this name, so conditions on both are
        /// unambiguous.
        private static let id = SQLBuilder.quoted("essentials_id")

        let table: TableSchema

        private var name: String { SQLBuilder.quoted(table.name) }
        private var rowsName: String { SQLBuilder.quoted("essentials_rows_" + table.name) }
        private var goneName: String { SQLBuilder.quoted("essentials_gone_" + table.name) }
        private var foldedName: String { SQLBuilder.quoted("essentials_key_" + table.name) }
        /// The columns of the view, with the generated ones at the end.
        private var columns: String {
            (table.columns + table.generated.map(\.column)).map { SQLBuilder.quoted($0.name) }.joined(separator: ", ")
        }

        // MARK: Sources of queries

        /// The table of the file.
        static func file(_ table: String) -> String { "main.\(SQLBuilder.quoted(table))" }

        /// The rows of the file whose ids have entries. They are looked up from the ids.
        var hidden: String {
            let key = "\(name).\(SQLBuilder.quoted(table.key))"
            // The first condition uses the index of the key, whose collation may treat more ids as equal.
            let bytes = table.foldsKey ? " AND \(Self.id) = \(key)" : ""
            return "temp.\(goneName) CROSS JOIN \(Self.file(table.name)) ON \(key) = \(Self.id)\(bytes)"
        }

        /// The same rows, but found by looking up the ids of rows. This is faster if a condition leaves few rows.
        var hiddenFromRows: String {
            "\(Self.file(table.name)) CROSS JOIN temp.\(goneName) ON \(Self.id) = \(name).\(SQLBuilder.quoted(table.key))"
        }

        /// The statement that counts the ids that hide rows.
        var hidingIDs: String { "SELECT count(*) FROM temp.\(goneName)" }

        /// The rows that are pending.
        var pending: String { "temp.\(rowsName) AS \(name)" }

        // MARK: Creating

        /// The statements that create the tables, their indexes and the view.
        ///
        /// Rows are identified by the bytes of their ids. So two rows can be pending whose ids are equal under the
        /// key's collation. Saving them fails.
        var creation: [String] {
            let key = SQLBuilder.quoted(table.key)
            let generated = table.generated.map { generated in
                definition(generated.column) + " GENERATED ALWAYS AS (\(generated.expression)) VIRTUAL"
            }
            let definitions = table.columns.map(definition) + generated + ["PRIMARY KEY (\(key) COLLATE BINARY)"]
            let affinity = table.columns.first { $0.name == table.key }?.affinity ?? ""
            // For searches and orders by the key, which follow its collation.
            let folded = table.foldsKey ? ["CREATE INDEX temp.\(foldedName) ON \(rowsName)(\(key))"] : []
            return [
                "CREATE TEMPORARY TABLE \(rowsName)(\(definitions.joined(separator: ", "))) WITHOUT ROWID",
                "CREATE TEMPORARY TABLE \(goneName)(\(Self.id) \(affinity) COLLATE BINARY PRIMARY KEY NOT NULL) WITHOUT ROWID",
            ] + folded + table.indexes.map(index) + [view]
        }

        private func definition(_ column: TableSchema.Column) -> String {
            "\(SQLBuilder.quoted(column.name)) \(column.affinity) COLLATE \(SQLBuilder.quoted(column.collation))"
                + (column.name == table.key ? " NOT NULL" : "")
        }

        private func index(_ index: TableSchema.Index) -> String {
            let parts = index.parts.map { part in
                "\(SQLBuilder.quoted(part.column)) COLLATE \(SQLBuilder.quoted(part.collation))"
                    + (part.isDescending ? " DESC" : "")
            }
            let name = SQLBuilder.quoted("essentials_" + index.name)
            return "CREATE INDEX temp.\(name) ON \(rowsName)(\(parts.joined(separator: ", ")))"
        }

        private var view: String {
            // NOT EXISTS, because NOT IN would also be evaluated for rows that the query's condition drops.
            let key = SQLBuilder.quoted(table.key)
            return """
                CREATE TEMPORARY VIEW \(name)(\(columns)) AS \
                SELECT \(columns) FROM \(Self.file(table.name)) AS essentials_file WHERE NOT EXISTS \
                (SELECT 1 FROM temp.\(goneName) AS essentials_gone \
                WHERE essentials_gone.\(Self.id) = essentials_file.\(key)) \
                UNION ALL SELECT \(columns) FROM temp.\(rowsName)
                """
        }

        // MARK: Writing

        /// Writes a pending row. The arguments are its values.
        var putRow: String {
            let values = Array(repeating: "?", count: table.columns.count).joined(separator: ", ")
            return "INSERT OR REPLACE INTO temp.\(rowsName) VALUES (\(values))"
        }
        /// Removes a pending row. The argument is its id.
        var removeRow: String {
            "DELETE FROM temp.\(rowsName) WHERE \(SQLBuilder.quoted(table.key)) COLLATE BINARY = ?"
        }
        /// Hides a row of the file. The argument is its id.
        var hide: String { "INSERT OR REPLACE INTO temp.\(goneName) VALUES (?)" }
        /// Shows a row of the file again. The argument is its id.
        var show: String { "DELETE FROM temp.\(goneName) WHERE \(Self.id) = ?" }
        /// Removes all rows from both tables.
        var clearing: [String] { ["DELETE FROM temp.\(rowsName)", "DELETE FROM temp.\(goneName)"] }
    }
#endif
