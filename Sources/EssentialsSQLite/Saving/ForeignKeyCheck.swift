#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// Finds the rows that violate foreign keys, before a transaction ends.
    struct ForeignKeyCheck {
        /// A violated foreign key with any number of columns.
        private struct Key: Hashable {
            let table: String
            let number: Int
            let parent: String
        }

        /// The key column of each table with a model.
        let keys: [String: String]
        /// The rows of the save.
        let level: OverlayLevel
        /// The rows that could not be written. They may cause violations of others.
        let failed: Set<RowKey>

        /// Whether SQLite knows of violations in the open transaction. It costs nothing.
        static func isNeeded(_ db: Database) -> Bool {
            var current: Int32 = 0
            var highest: Int32 = 0
            let code = sqlite3_db_status(
                db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
            return code != SQLITE_OK || current != 0
        }

        /// Adds the violations to a list. It reads all tables that have foreign keys, so it is for failures only.
        func run(_ db: Database, into list: inout ViolationList) throws {
            let found = try violated(db)
            for key in found where !list.isFull { try add(key, onlyConcerned: true, db, &list) }
            guard list.isEmpty, failed.isEmpty else { return }
            // Cascades or triggers have changed rows.
            for key in found where !list.isFull { try add(key, onlyConcerned: false, db, &list) }
            guard list.isEmpty else { return }
            throw PersistenceFailure(.constraint, "A foreign key is violated by rows that are not known.")
        }

        /// The violated foreign keys, in the order in which SQLite finds them.
        private func violated(_ db: Database) throws -> [Key] {
            var seen: Set<Key> = []
            var found: [Key] = []
            let cursor = try Row.fetchCursor(db, sql: "PRAGMA main.foreign_key_check")
            while let row = try cursor.next() {
                let key = Key(table: name(ofModelTable: row[0]), number: row[3], parent: name(ofModelTable: row[2]))
                if seen.insert(key).inserted { found.append(key) }
            }
            return found
        }

        /// The name that a model uses for a table. SQLite ignores case.
        private func name(ofModelTable table: String) -> String {
            keys[table] != nil ? table : keys.keys.first { $0.lowercased() == table.lowercased() } ?? table
        }

        private func add(_ key: Key, onlyConcerned: Bool, _ db: Database, _ list: inout ViolationList) throws {
            let columns = try Row.fetchAll(
                db,
                sql: """
                    SELECT "from", "to" FROM pragma_foreign_key_list(?, 'main') WHERE id = ? ORDER BY seq
                    """, arguments: [key.table, key.number])
            let from = columns.map { row -> String in row["from"] }
            let to = columns.map { row -> String? in row["to"] }
            let id = try keys[key.table] ?? Self.primaryKey(key.table, db).first
            guard let id else { return }
            let parentKey = try to.contains(nil) ? Self.primaryKey(key.parent, db) : to.compactMap { $0 }
            var sql = SQLBuilder()
            sql.append("SELECT \(Self.name("c", id)), \(Self.name("c", from[0])) FROM ")
            sql.append("\"main\".\(SQLBuilder.quoted(key.table)) AS c WHERE ")
            sql.append(from.map { "\(Self.name("c", $0)) IS NOT NULL" }.joined(separator: " AND "))
            // If the parent table does not exist, all rows violate the foreign key.
            if parentKey.count == from.count {
                sql.append(" AND NOT EXISTS (SELECT 1 FROM \"main\".\(SQLBuilder.quoted(key.parent)) AS p WHERE ")
                sql.append(
                    zip(parentKey, from).map { "\(Self.name("p", $0)) = \(Self.name("c", $1))" }
                        .joined(separator: " AND "))
                sql.append(")")
            }
            sql.append(" ORDER BY 1")
            let cursor = try Row.fetchCursor(db, sql: sql.sql)
            while !list.isFull, let row = try cursor.next() {
                let values = Array(row.databaseValues).map { StoredValue($0) }
                let child = RowKey(table: key.table, id: values[0])
                let parent = RowKey(table: key.parent, id: values[1])
                if failed.contains(child) || failed.contains(parent) { continue }
                if onlyConcerned, level.entry(child) == nil, level.entry(parent) == nil { continue }
                list.append(
                    ConstraintViolation(
                        .foreignKey, table: key.table, columns: from, parent: key.parent, ids: [child.id]))
            }
        }

        /// Adds the children that restrict the deletion of a row.
        static func addChildren(
            of row: StoredRow?, _ table: String, _ foreignKeys: [EssentialsPersistence.ForeignKey],
            keys: [String: String], _ db: Database, _ list: inout ViolationList
        ) throws {
            for foreignKey in foreignKeys where foreignKey.parent == table && foreignKey.action == .restrict {
                guard let values = foreignKey.key(of: row),
                    let id = try keys[foreignKey.table] ?? primaryKey(foreignKey.table, db).first
                else { continue }
                let conditions = foreignKey.columns.map { "\(name("c", $0)) = ?" }.joined(separator: " AND ")
                let ids = try DatabaseValue.fetchAll(
                    db,
                    sql: """
                        SELECT \(name("c", id)) FROM "main".\(SQLBuilder.quoted(foreignKey.table)) AS c
                        WHERE \(conditions) ORDER BY 1 LIMIT \(ViolationList.maximum)
                        """, arguments: StatementArguments(values.map(\.databaseValue)))
                guard !ids.isEmpty else { continue }
                list.append(
                    ConstraintViolation(
                        .foreignKey, table: foreignKey.table, columns: foreignKey.columns, parent: table,
                        ids: ids.map { StoredValue($0) }))
            }
        }

        private static func name(_ table: String, _ column: String) -> String {
            "\(table).\(SQLBuilder.quoted(column))"
        }

        private static func primaryKey(_ table: String, _ db: Database) throws -> [String] {
            try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk", arguments: [table])
        }
    }
#endif
