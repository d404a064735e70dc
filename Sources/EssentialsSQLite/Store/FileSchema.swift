#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// The tables of all models, as they are in the file.
    struct FileSchema: Sendable {
        /// The tables by the names that the models use.
        let tables: [String: TableSchema]

        /// The foreign keys of all tables of models.
        var foreignKeys: [EssentialsPersistence.ForeignKey] {
            tables.keys.sorted().flatMap { tables[$0]?.foreignKeys ?? [] }
        }

        /// - Throws: A failure with the reason `invalidQuery` if no model has this table.
        func table(_ name: String) throws(PersistenceFailure) -> TableSchema {
            if let table = tables[name] { return table }
            throw PersistenceFailure(
                .invalidQuery, "No model of the store has this table.", remedy: "Name the model when the store opens.",
                model: name)
        }

        /// Reads the tables of the models from the main file. Missing tables are left out.
        ///
        /// - Throws: An error of the database.
        static func read(_ db: Database, models: [ModelSchema]) throws -> FileSchema {
            let reader = SchemaReader(db: db, models: models)
            var tables: [String: TableSchema] = [:]
            for model in models where tables[model.table] == nil { tables[model.table] = try reader.table(model) }
            return FileSchema(tables: tables)
        }
    }

    /// Reads the schema of the main file.
    private struct SchemaReader {
        let db: Database
        let models: [ModelSchema]

        /// The table of a model; `nil` if it does not exist.
        func table(_ model: ModelSchema) throws -> TableSchema? {
            let columns = try columns(model.table)
            guard !columns.isEmpty else { return nil }
            let layout = RowLayout(columns.map(\.name))
            return TableSchema(
                name: model.table, key: model.key, columns: columns, generated: try generated(model.table),
                indexes: try indexes(model.table, columns: Set(columns.map(\.name))),
                foreignKeys: try foreignKeys(model.table), layout: layout,
                lookup: SelectStatement.lookup(
                    of: PendingSQL.file(model.table), key: model.key, columns: layout.names))
        }

        private func generated(_ table: String) throws -> [TableSchema.Generated] {
            let columns = try columns(table, condition: "hidden > 1")
            guard !columns.isEmpty else { return [] }
            let sql = try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)",
                arguments: [table])
            let expressions = GeneratedColumns.expressions(in: sql ?? "")
            return columns.compactMap { column in
                expressions[column.name].map { TableSchema.Generated(column: column, expression: $0) }
            }
        }

        private func columns(
            _ table: String, condition: String = "hidden = 0"
        ) throws -> [TableSchema.Column] {
            let isStrict = try Bool.fetchOne(
                db, sql: "SELECT strict FROM pragma_table_list(?) WHERE schema = 'main'", arguments: [table])
            let rows = try Row.fetchAll(
                db, sql: "SELECT name, type FROM pragma_table_xinfo(?, 'main') WHERE \(condition) ORDER BY cid",
                arguments: [table])
            return rows.map { row in
                let type: String = row[1]
                return TableSchema.Column(
                    name: row[0], type: type, collation: collation(table, row[0]),
                    affinity: TableSchema.affinity(of: type, isStrict: isStrict == true))
            }
        }

        /// The collation of a column. No pragma returns it.
        private func collation(_ table: String, _ column: String) -> String {
            var name: UnsafePointer<CChar>?
            let code = sqlite3_table_column_metadata(
                db.sqliteConnection, "main", table, column, nil, &name, nil, nil, nil)
            guard code == SQLITE_OK, let name else { return "BINARY" }
            return String(cString: name)
        }

        private func indexes(_ table: String, columns: Set<String>) throws -> [TableSchema.Index] {
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_index_list(?, 'main') WHERE origin != 'pk' AND NOT partial ORDER BY name
                    """,
                arguments: [table])
            return try names.compactMap { index in
                let rows = try Row.fetchAll(
                    db, sql: "SELECT name, coll, desc FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
                    arguments: [index])
                let parts = rows.compactMap { row -> TableSchema.Index.Part? in
                    // An expression has no name.
                    guard let column = row[0] as String?, columns.contains(column) else { return nil }
                    return TableSchema.Index.Part(
                        column: column, collation: row[1] ?? "BINARY", isDescending: row[2] ?? false)
                }
                return parts.count == rows.count && !parts.isEmpty
                    ? TableSchema.Index(name: index, parts: parts) : nil
            }
        }

        private func foreignKeys(_ table: String) throws -> [EssentialsPersistence.ForeignKey] {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq
                    """,
                arguments: [table])
            let groups = Dictionary(grouping: rows) { row -> Int in row[0] }
            return try groups.sorted { $0.key < $1.key }.compactMap { _, rows in
                let (parent, columns): (String, [String]) = (rows[0][1], rows.map { $0[2] })
                let keys = try keys(rows.map { $0[3] }, of: parent)
                guard keys.count == columns.count else { return nil }
                let action = EssentialsPersistence.ForeignKey.Action(rawValue: rows[0][4]) ?? .noAction
                let hasDefault = action == .setDefault && columns.count == 1
                return EssentialsPersistence.ForeignKey(
                    table: table, columns: columns, parent: name(ofModelTable: parent), keys: keys, action: action,
                    defaultValue: hasDefault ? try defaultValue(columns[0], of: table) : nil)
            }
        }

        /// The default of a column; `nil` if a query cannot compute it.
        private func defaultValue(_ column: String, of table: String) throws -> StoredValue? {
            let text = try String?.fetchOne(
                db, sql: "SELECT dflt_value FROM pragma_table_xinfo(?, 'main') WHERE lower(name) = lower(?)",
                arguments: [table, column])
            guard let text = text.flatMap({ $0 }) else { return .null }
            return (try? DatabaseValue.fetchOne(db, sql: "SELECT \(text)")).map { StoredValue($0) }
        }

        /// The columns that a foreign key names, as the parent's table spells them. Without names, the primary key is
        /// used.
        private func keys(_ names: [String?], of parent: String) throws -> [String] {
            let rows = try Row.fetchAll(
                db, sql: "SELECT name, pk FROM pragma_table_xinfo(?, 'main') ORDER BY pk, cid", arguments: [parent])
            let columns: [String] = rows.map { $0[0] }
            let primary: [String] = rows.filter { ($0[1] as Int) > 0 }.map { $0[0] }
            return names.enumerated().compactMap { index, name in
                guard let name else { return index < primary.count ? primary[index] : nil }
                return columns.first { $0.lowercased() == name.lowercased() } ?? name
            }
        }

        /// The name that a model uses for a table. SQLite ignores case.
        private func name(ofModelTable table: String) -> String {
            models.first { $0.table.lowercased() == table.lowercased() }?.table ?? table
        }
    }
#endif
