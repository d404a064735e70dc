#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Finds out from an error of SQLite which constraint a statement has violated. The error names columns but no
    /// values.
    enum ConstraintReading {
        /// SQLite's text for a deletion that a foreign key restricts, and for all other foreign key violations.
        private static let foreignKeyText = "FOREIGN KEY constraint failed"

        /// Whether other writes of the same save may remove the cause: another row with the same value, or a child.
        static func mayPass(_ error: DatabaseError) -> Bool {
            let kind = kind(error)
            return kind == .unique || kind == .foreignKey
        }

        /// The violation; `nil` if the error is of another kind.
        ///
        /// - Parameters:
        ///   - error: The error.
        ///   - key: The row that was written. A deletion may violate constraints of other tables.
        static func violation(_ error: DatabaseError, at key: RowKey, _ db: Database) throws -> ConstraintViolation? {
            guard let kind = kind(error) else { return nil }
            let text = error.message?.split(separator: ": ", maxSplits: 1).dropFirst().first.map { String($0) }
            switch kind {
            case .foreignKey: return ConstraintViolation(kind, table: key.table, ids: [key.id])
            case .trigger: return ConstraintViolation(kind, table: key.table, name: error.message, ids: [key.id])
            case .check: return ConstraintViolation(kind, table: key.table, name: text, ids: [key.id])
            case .unique, .notNull: break
            }
            guard let text else { return ConstraintViolation(kind, table: key.table, ids: [key.id]) }
            if text.hasPrefix("index '"), text.hasSuffix("'") {
                let name = String(text.dropFirst("index '".count).dropLast())
                return ConstraintViolation(kind, table: key.table, name: name, ids: [key.id])
            }
            let isOwn = isOf(key.table, text)
            let table = isOwn ? key.table : text.split(separator: ".").first.map { String($0) } ?? key.table
            let columns = columns(text, table: table)
            let name = kind == .unique ? try indexName(table, columns, db) : nil
            return ConstraintViolation(
                kind, table: table, columns: columns, name: name, ids: isOwn ? [key.id] : [])
        }

        /// The columns whose values another row of the table has; `nil` if they are unknown.
        static func uniqueColumns(_ error: DatabaseError, of table: String) -> [String]? {
            guard kind(error) == .unique,
                let text = error.message?.split(separator: ": ", maxSplits: 1).dropFirst().first,
                isOf(table, text)
            else { return nil }
            return columns(String(text), table: table)
        }

        /// Whether a text such as `film.title` names a column of a table. SQLite spells the table as the file does, and
        /// ignores case.
        private static func isOf(_ table: String, _ text: some StringProtocol) -> Bool {
            text.prefix(table.count + 1).lowercased() == table.lowercased() + "."
        }

        private static func kind(_ error: DatabaseError) -> ConstraintViolation.Kind? {
            switch error.extendedResultCode {
            case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: .unique
            case .SQLITE_CONSTRAINT_CHECK: .check
            case .SQLITE_CONSTRAINT_NOTNULL: .notNull
            case .SQLITE_CONSTRAINT_FOREIGNKEY: .foreignKey
            // SQLite restricts deletions by an internal trigger.
            case .SQLITE_CONSTRAINT_TRIGGER: error.message == foreignKeyText ? .foreignKey : .trigger
            default: nil
            }
        }

        /// The columns of a text such as `film.title, film.year`.
        private static func columns(_ text: String, table: String) -> [String] {
            text.split(separator: ", ").map { part in
                String(isOf(table, part) ? part.dropFirst(table.count + 1) : part)
            }
        }

        /// The name of a unique index over these columns. Indexes that SQLite creates itself have no name.
        private static func indexName(_ table: String, _ columns: [String], _ db: Database) throws -> String? {
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE \"unique\" AND origin = 'c'",
                arguments: [table])
            return try names.first { name in
                let found = try String?.fetchAll(
                    db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [name])
                return found == columns
            }
        }
    }
#endif
