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
            for foreignKey in save.changingKeys {
                var deleted: Set<[StoredValue]> = []
                for entry in save.level.entries(in: foreignKey.parent).values {
                    guard case .deleted(let base) = entry, let values = foreignKey.key(of: base) else { continue }
                    deleted.insert(values.map(\.folded))
                }
                guard !deleted.isEmpty else { continue }
                var missing: [[StoredValue]: Bool] = [:]
                var found: [StoredValue] = []
                for (id, entry) in save.level.entries(in: foreignKey.table) {
                    let key = RowKey(table: foreignKey.table, id: id)
                    guard let values = foreignKey.reference(of: entry.row), deleted.contains(values.map(\.folded)),
                        !dropped.contains(key), !failed.contains(key), isWanted(key, foreignKey, values)
                    else { continue }
                    let isMissing = try missing[values] ?? isMissing(values, foreignKey, db)
                    missing[values] = isMissing
                    if isMissing { found.append(id) }
                }
                guard !found.isEmpty else { continue }
                failed.formUnion(found.map { RowKey(table: foreignKey.table, id: $0) })
                list.append(
                    ConstraintViolation(
                        .foreignKey, table: foreignKey.table, columns: foreignKey.columns, parent: foreignKey.parent,
                        ids: found.sorted { $0.precedes($1) }))
            }
        }

        /// Whether the row that was saved refers to the values.
        private func isWanted(_ key: RowKey, _ foreignKey: ChangingForeignKey, _ values: [StoredValue]) -> Bool {
            guard let row = decided[key] else { return true }
            return foreignKey.reference(of: row) == values
        }

        /// Whether the file has no row with these values now. Another row may have taken them over, or the deletion was
        /// dropped.
        private func isMissing(
            _ values: [StoredValue], _ foreignKey: ChangingForeignKey, _ db: Database
        ) throws -> Bool {
            let conditions = foreignKey.keys.map { "\(SQLBuilder.quoted($0)) = ?" }.joined(separator: " AND ")
            let statement = try db.cachedStatement(
                sql: "SELECT 1 FROM \"main\".\(SQLBuilder.quoted(foreignKey.parent)) WHERE \(conditions)")
            return try Row.fetchOne(statement, arguments: StatementArguments(values.map(\.databaseValue))) == nil
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
