#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Compares the models with the tables of a store.
    struct SchemaCheck {
        /// A column of a table, as SQLite describes it.
        private struct FileColumn {
            let name: String
            let type: String
            let isRequired: Bool
            let hasDefault: Bool
            let isKey: Bool
            let isGenerated: Bool
        }

        let models: [ModelSchema]

        /// - Throws: A failure with the reason `schemaMismatch` that names all differences.
        func run(_ db: Database) throws {
            let differences = try models.flatMap { try self.differences($0, db) }
            guard !differences.isEmpty else { return }
            throw PersistenceFailure(
                .schemaMismatch, "The tables do not fit the models: \(differences.joined(separator: "; ")).",
                remedy: try remedy(db),
                model: Set(models.map(\.table)).count == 1 ? models.first?.table : nil)
        }

        /// The remedy with the statements for the missing tables; `nil` if no table is missing.
        private func remedy(_ db: Database) throws -> String? {
            let missing = try models.filter { try !db.tableExists($0.table, in: "main") }
            guard !missing.isEmpty else { return nil }
            let statements = TableSQL(models: missing).statements.map { statement in
                statement.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
            }
            return "Add a migration, or correct the models. They expect: \(statements.joined(separator: " "))"
        }

        private func differences(_ model: ModelSchema, _ db: Database) throws -> [String] {
            let columns = try Row.fetchAll(
                db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main')", arguments: [model.table]
            )
            .map { row in
                FileColumn(
                    name: row["name"], type: row["type"], isRequired: row["notnull"],
                    hasDefault: !row.hasNull(atIndex: 4), isKey: row["pk"] as Int > 0,
                    isGenerated: row["hidden"] as Int > 1)
            }
            if columns.isEmpty { return ["there is no table \(model.table) for \(model.model)"] }
            var found = Self.declaration(model)
            let byName = Dictionary(columns.map { ($0.name, $0) }) { first, _ in first }
            for column in model.columns { found += Self.column(column, byName[column.name], model) }
            if columns.filter(\.isKey).map(\.name) != [model.key] {
                found.append("the primary key of \(model.table) is not \(model.key)")
            }
            let known = Set(model.columns.map(\.name))
            let keys = model.codingKeys()
            for column in model.columns where !column.isOptional && keys.has(column.name) == false {
                found.append("\(model.model) has no coding key \(column.name), and its column needs a value")
            }
            for column in columns where !known.contains(column.name) {
                if keys.has(column.name) == true {
                    found.append(
                        "\(model.model) has a coding key \(column.name), which is missing among its columns")
                    continue
                }
                if column.isRequired, !column.hasDefault, !column.isGenerated {
                    found.append("\(model.table).\(column.name) needs a value, but \(model.model) has no such column")
                }
            }
            return found + (try references(model, db))
        }

        /// Mistakes of the declaration itself.
        private static func declaration(_ model: ModelSchema) -> [String] {
            var found: [String] = []
            let names = model.columns.map(\.name)
            if !names.contains(model.key) { found.append("\(model.model) does not list its id among all columns") }
            if Set(names).count != names.count { found.append("\(model.model) lists a column twice") }
            return found
        }

        private static func column(
            _ column: ModelSchema.Column, _ file: FileColumn?, _ model: ModelSchema
        ) -> [String] {
            let name = "\(model.table).\(column.name)"
            guard let file else { return ["there is no column \(name)"] }
            var found: [String] = []
            if file.isGenerated { found.append("\(name) is generated and cannot be written") }
            if !fits(column.storage, type: file.type) {
                found.append("\(name) is \(file.type), and \(model.model) stores \(column.storage.rawValue)")
            }
            if column.isOptional, file.isRequired {
                found.append("\(name) is NOT NULL, and optional in \(model.model)")
            }
            if !column.isOptional, !file.isRequired, !file.isKey {
                found.append("\(name) may be NULL, and is not optional in \(model.model)")
            }
            return found
        }

        /// Whether a column of a declared type keeps values of a storage unchanged, by SQLite's rules of affinity.
        static func fits(_ storage: ColumnStorage, type: String) -> Bool {
            let type = type.uppercased()
            func names(_ words: String...) -> Bool { words.contains { type.contains($0) } }
            if type == "ANY" { return true }
            if names("INT") { return storage == .integer }
            if names("CHAR", "CLOB", "TEXT") { return storage == .text }
            if type.isEmpty || names("BLOB") { return storage == .blob || type.isEmpty }
            if names("REAL", "FLOA", "DOUB") { return storage == .real }
            // NUMERIC turns texts that look like numbers into numbers.
            return storage == .integer || storage == .real
        }

        private func references(_ model: ModelSchema, _ db: Database) throws -> [String] {
            guard !model.references.isEmpty else { return [] }
            let keys = try Row.fetchAll(
                db, sql: "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?, 'main')",
                arguments: [model.table])
            return model.references.compactMap { reference in
                let isDeclared = keys.contains { row in
                    // A foreign key without columns of the parent refers to its primary key.
                    row[0] == reference.parent && row[1] == reference.column
                        && (row[2] as String? ?? reference.key) == reference.key
                }
                return isDeclared
                    ? nil
                    : "\(model.table).\(reference.column) has no foreign key to \(reference.parent).\(reference.key)"
            }
        }
    }
#endif
