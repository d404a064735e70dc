#if Persistence
    package import EssentialsPersistence
    import GRDB

    /// The statements that created the contents of a store, and its tables with their columns and foreign keys.
    package struct StoreOutline: Sendable {
        /// An entry of the schema.
        package struct Entry: Sendable, Equatable {
            /// `table`, `index`, `view` or `trigger`.
            package let kind: String
            package let name: String
            /// The table that an index or a trigger belongs to.
            package let table: String
            package let sql: String
        }

        package struct Column: Sendable, Equatable {
            package let name: String
            package let type: String
            package let isRequired: Bool
            package let isKey: Bool
        }

        package struct Reference: Sendable, Equatable {
            package let columns: [String]
            package let parent: String
        }

        package struct Table: Sendable, Equatable {
            package let name: String
            package let columns: [Column]
            package let references: [Reference]
        }

        /// The entries with a statement, tables first. Indexes that SQLite created for a constraint have no statement.
        package let entries: [Entry]
        /// The tables, sorted by name, without the internal tables of SQLite and of stores.
        package let tables: [Table]
        /// Whether a list was cut.
        package let isCut: Bool

        /// The maximum number of entries.
        static let entryLimit = 10_000
        /// The prefix of the internal tables of stores.
        static let ownPrefix = "essentials_"
    }

    extension StoreInspection {
        /// Reads the schema.
        package func outline() throws(PersistenceFailure) -> StoreOutline {
            try read { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL
                        ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'view' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, name
                        LIMIT \(StoreOutline.entryLimit + 1)
                        """)
                let entries = rows.prefix(StoreOutline.entryLimit).map { row in
                    StoreOutline.Entry(
                        kind: row.text(0) ?? "", name: row.text(1) ?? "", table: row.text(2) ?? "",
                        sql: row.text(3) ?? "")
                }
                let own = ["sqlite_", StoreOutline.ownPrefix]
                let names = entries.filter { $0.kind == "table" }.map(\.name)
                    .filter { name in !own.contains(where: name.hasPrefix) }
                let limit = StoreInformation.listLimit
                return StoreOutline(
                    entries: entries, tables: try names.prefix(limit).map { try table($0, db) },
                    isCut: rows.count > entries.count || names.count > limit)
            }
        }

        private func table(_ name: String, _ db: Database) throws -> StoreOutline.Table {
            let keys = try Row.fetchAll(
                db, sql: "SELECT id, \"from\", \"table\" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq",
                arguments: [name])
            var references: [(id: Int64?, reference: StoreOutline.Reference)] = []
            for key in keys {
                let columns = references.last?.id == key.integer(0) ? references.removeLast().reference.columns : []
                references.append(
                    (
                        key.integer(0),
                        StoreOutline.Reference(columns: columns + [key.text(1) ?? ""], parent: key.text(2) ?? "")
                    ))
            }
            return StoreOutline.Table(
                name: name, columns: try columns(of: name, db), references: references.map(\.reference))
        }

        /// The columns that `SELECT *` returns.
        func columns(of name: String, _ db: Database) throws -> [StoreOutline.Column] {
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?, 'main') WHERE hidden != 1
                    ORDER BY cid LIMIT \(StoreRows.columnLimit + 1)
                    """, arguments: [name]
            ).map { row in
                StoreOutline.Column(
                    name: row.text(0) ?? "", type: row.text(1) ?? "", isRequired: row.integer(2) != 0,
                    isKey: row.integer(3) != 0)
            }
        }
    }
#endif
