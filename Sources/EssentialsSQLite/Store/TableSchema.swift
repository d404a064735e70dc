#if Persistence
    import EssentialsPersistence

    /// The parts of a file's table that matter for pending rows over it.
    struct TableSchema: Sendable {
        /// A column that can be written. Generated columns are left out.
        struct Column: Sendable, Hashable {
            let name: String
            /// The declared type; empty if there is no such type.
            let type: String
            let collation: String
            /// The type that gives a column of a temporary table the same affinity.
            let affinity: String
        }

        /// A column whose values SQLite computes.
        struct Generated: Sendable, Hashable {
            let column: Column
            /// The expression over the other columns.
            let expression: String
        }

        /// An index over whole columns and all rows.
        struct Index: Sendable, Hashable {
            struct Part: Sendable, Hashable {
                let column: String
                let collation: String
                let isDescending: Bool
            }

            let name: String
            let parts: [Part]
        }

        /// The name that the model uses.
        let name: String
        /// The column of the primary key.
        let key: String
        /// The columns in the order of the file, including those outside the model.
        let columns: [Column]
        /// The generated columns. Rows do not have them, but conditions in SQL can name them.
        let generated: [Generated]
        /// The indexes, without those of the primary key, of expressions, and of parts of the table.
        let indexes: [Index]
        /// The foreign keys of the table's rows.
        let foreignKeys: [EssentialsPersistence.ForeignKey]
        /// The names of all columns. All rows of the table share this object.
        let layout: RowLayout
        /// The statement that looks up a row of the file by its id.
        let lookup: String

        /// Whether the collation of the key treats texts with different bytes as equal.
        ///
        /// Ids are compared by their bytes everywhere. The table itself can hold only one row of each group of equal
        /// keys.
        var foldsKey: Bool {
            columns.contains { $0.name == key && $0.collation.uppercased() != "BINARY" }
        }

        /// The type with the affinity that SQLite gives to a declared type.
        static func affinity(of type: String, isStrict: Bool) -> String {
            let type = type.uppercased()
            func names(_ words: String...) -> Bool { words.contains { type.contains($0) } }
            // In strict tables only, a column of type ANY keeps every value unchanged.
            if isStrict, type == "ANY" { return "BLOB" }
            if names("INT") { return "INTEGER" }
            if names("CHAR", "CLOB", "TEXT") { return "TEXT" }
            if type.isEmpty || names("BLOB") { return "BLOB" }
            if names("REAL", "FLOA", "DOUB") { return "REAL" }
            return "NUMERIC"
        }
    }
#endif
