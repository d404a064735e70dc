#if Persistence
    import EssentialsPersistence
    import GRDBSQLite

    extension SQLiteStore {
        /// The statements that create the tables of the models, to be copied into a migration and completed there.
        ///
        /// ```swift
        /// print(SQLiteStore(path: path, models: [Studio.self, Film.self]).tableSQL)
        /// ```
        ///
        /// Each statement has the columns, the types, `NOT NULL`, the key and the references of its models. The program
        /// adds indexes, unique values, checks and `ON DELETE`. A migration that has run never changes, so copy the
        /// text instead of computing it when the store opens. Opening compares the models with the tables that the
        /// migrations have created.
        public var tableSQL: String { TableSQL(models: models).statements.joined(separator: "\n") }
    }

    /// The statements that create the tables of models.
    struct TableSQL {
        let models: [ModelSchema]

        /// A statement for each table. Parent tables come first, except where tables refer to each other.
        var statements: [String] {
            var tables: [ModelSchema] = []
            for model in models {
                if let index = tables.firstIndex(where: { $0.table == model.table }) {
                    tables[index] = tables[index].adding(model)
                } else {
                    tables.append(model)
                }
            }
            var ordered: [ModelSchema] = []
            while !tables.isEmpty {
                let waiting = Set(tables.map(\.table))
                let free = tables.firstIndex { table in
                    table.references.allSatisfy { $0.parent == table.table || !waiting.contains($0.parent) }
                }
                ordered.append(tables.remove(at: free ?? 0))
            }
            return ordered.map(Self.statement)
        }

        private static func statement(_ model: ModelSchema) -> String {
            let columns = model.columns.map { "    " + column($0, model) }
            let key = model.columns.first { $0.name == model.key }
            // An integer key is the row number of its table.
            let options = key?.storage == .integer ? "STRICT" : "STRICT, WITHOUT ROWID"
            return "CREATE TABLE \(name(model.table))(\n\(columns.joined(separator: ",\n"))\n) \(options);"
        }

        private static func column(_ column: ModelSchema.Column, _ model: ModelSchema) -> String {
            var text = "\(name(column.name)) \(column.storage.rawValue)"
            if column.name == model.key { text += " PRIMARY KEY" }
            if column.name == model.key || !column.isOptional { text += " NOT NULL" }
            for reference in model.references where reference.column == column.name {
                text += " REFERENCES \(name(reference.parent))(\(name(reference.key)))"
            }
            return text
        }

        /// A name as SQL, in quotes if it needs them.
        private static func name(_ name: String) -> String {
            let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                    true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
                default: false
                }
            }
            let isWord = sqlite3_keyword_check(name, Int32(clamping: name.utf8.count)) != 0
            return isPlain && !isWord && !name.isEmpty ? name : SQLBuilder.quoted(name)
        }
    }
#endif
