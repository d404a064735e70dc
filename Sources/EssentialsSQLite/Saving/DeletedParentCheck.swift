#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Finds the rows of a save that refer to rows which the same save has deleted.
    ///
    /// `ON DELETE` has changed or deleted these rows in the file, as it does with rows that others have brought meanwhile. But
    /// the scope has shown them as they are, so the save fails as it does for a created row. Foreign keys that leave the
    /// children alone are not looked at: SQLite finds their violations itself.
    struct DeletedParentCheck {
        let save: FileSave
        /// The rows whose pending change was dropped by the policy.
        let dropped: Set<RowKey>
        /// The rows that were decided to be other ones than the pending ones.
        let decided: [RowKey: StoredRow]

        /// Adds the violations to a list, and the rows to those that have failed. It reads the file only for rows that refer
        /// to a value of a deleted row.
        func run(_ db: Database, into list: inout ViolationList, failed: inout Set<RowKey>) throws {
            for foreignKey in save.foreignKeys where foreignKey.changesChildren {
                var values: Set<StoredValue> = []
                for entry in save.level.entries(in: foreignKey.parent).values {
                    guard case .deleted(let base) = entry, let value = base[foreignKey.key] else { continue }
                    values.insert(value.folded)
                }
                guard !values.isEmpty else { continue }
                var missing: [StoredValue: Bool] = [:]
                var found: [StoredValue] = []
                for (id, entry) in save.level.entries(in: foreignKey.table) {
                    let key = RowKey(table: foreignKey.table, id: id)
                    guard let value = entry.row?[foreignKey.column], !value.isNull, values.contains(value.folded),
                        !dropped.contains(key), !failed.contains(key), isWanted(key, foreignKey.column, value)
                    else { continue }
                    let isMissing = try missing[value] ?? isMissing(value, foreignKey, db)
                    missing[value] = isMissing
                    if isMissing { found.append(id) }
                }
                guard !found.isEmpty else { continue }
                failed.formUnion(found.map { RowKey(table: foreignKey.table, id: $0) })
                list.append(
                    ConstraintViolation(
                        .foreignKey, table: foreignKey.table, columns: [foreignKey.column], parent: foreignKey.parent,
                        ids: found.sorted { $0.precedes($1) }))
            }
        }

        /// Whether the row that was saved refers to the value.
        private func isWanted(_ key: RowKey, _ column: String, _ value: StoredValue) -> Bool {
            guard let row = decided[key] else { return true }
            return row[column] == value
        }

        /// Whether the file has no row with a value now. Another row may have taken it over, or the deletion was dropped.
        private func isMissing(
            _ value: StoredValue, _ foreignKey: EssentialsPersistence.ForeignKey, _ db: Database
        ) throws -> Bool {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT 1 FROM "main".\(SQLBuilder.quoted(foreignKey.parent)) \
                    WHERE \(SQLBuilder.quoted(foreignKey.key)) = ?
                    """)
            return try Row.fetchOne(statement, arguments: [value.databaseValue]) == nil
        }
    }

    extension StoredValue {
        /// The same value for all values that the collations of SQLite may take as equal.
        fileprivate var folded: StoredValue {
            switch self {
            case .text(let text):
                var text = text.lowercased()
                while text.last == " " { text.removeLast() }
                return .text(text)
            case .real(let number): return Int64(exactly: number).map { .integer($0) } ?? self
            case .null, .integer, .blob: return self
            }
        }
    }
#endif
