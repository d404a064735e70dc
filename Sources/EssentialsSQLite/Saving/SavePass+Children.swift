#if Persistence
    import EssentialsPersistence
    import GRDB

    /// What `ON DELETE` has made of the rows of the save.
    ///
    /// It changes or deletes rows that others have brought meanwhile. But the scope has shown its own rows as they are, so
    /// a save that would store them otherwise fails as it does for a created row. Foreign keys that leave the children alone
    /// are not looked at: SQLite finds their violations itself.
    extension SavePass {
        /// Judges the rows that refer to a row which the save has deleted, and if the store has deleted others because of
        /// that, all rows that refer to any. A reference to a value that another row has taken over is written again.
        mutating func checkChildren() throws {
            let parents = DeletedValues(save)
            var found: [ChangingForeignKey: [StoredValue]] = [:]
            for (table, foreignKeys) in Dictionary(grouping: save.changingKeys, by: \.table) {
                for (id, entry) in save.level.entries(in: table) {
                    let key = RowKey(table: table, id: id)
                    guard let row = decided[key] ?? entry.row, !dropped.contains(key), !ignored.contains(key),
                        !failed.contains(key)
                    else { continue }
                    let isConcerned =
                        hasCascaded
                        || foreignKeys.contains { foreignKey in
                            foreignKey.reference(of: row).map { parents.contains($0, foreignKey) } ?? false
                        }
                    guard isConcerned, let lost = try lost(row, at: key, foreignKeys, parents) else { continue }
                    failed.insert(key)
                    found[lost, default: []].append(id)
                }
            }
            for foreignKey in save.changingKeys {
                guard let ids = found[foreignKey] else { continue }
                violations.append(Self.violation(of: foreignKey, ids))
            }
        }

        /// The foreign key whose parent is missing; `nil` if the row is stored as it is meant.
        private mutating func lost(
            _ row: StoredRow, at key: RowKey, _ foreignKeys: [ChangingForeignKey], _ parents: DeletedValues
        ) throws -> ChangingForeignKey? {
            let statements = try statements(key, row)
            let now = try statements.read(key.id)
            var columns: Set<String> = []
            for foreignKey in foreignKeys {
                guard let reference = foreignKey.reference(of: row), foreignKey.reference(of: now) != reference else {
                    continue
                }
                if try foreignKey.isMissing(reference, db) { return foreignKey }
                guard parents.contains(reference, foreignKey) else { continue }
                // With the row, those that refer to it have been changed or deleted. They would not come back.
                guard now != nil else { return foreignKey }
                columns.formUnion(foreignKey.columns)
            }
            let indices = row.layout.names.indices.filter { columns.contains(row.layout.names[$0]) }
            if !indices.isEmpty { _ = try statements.update(row, columns: indices, id: key.id) }
            return nil
        }

        /// Notes a violation if `ON DELETE` has taken a row that is not there any more, and returns whether it has.
        mutating func wasTaken(_ key: RowKey, _ statements: RowStatements) throws -> Bool {
            guard hasCascaded, save.changingKeys.contains(where: { $0.table == key.table }) else { return false }
            let old = try before.row(key.id, model: model(key), layout: statements.layout)
            let parents = DeletedValues(save)
            for foreignKey in save.changingKeys where foreignKey.table == key.table {
                guard let reference = foreignKey.reference(of: old) else { continue }
                guard try parents.contains(reference, foreignKey) || foreignKey.isMissing(reference, db) else {
                    continue
                }
                failed.insert(key)
                violations.append(Self.violation(of: foreignKey, [key.id]))
                return true
            }
            return false
        }

        private static func violation(of foreignKey: ChangingForeignKey, _ ids: [StoredValue]) -> ConstraintViolation {
            ConstraintViolation(
                .foreignKey, table: foreignKey.table, columns: foreignKey.columns, parent: foreignKey.parent,
                ids: ids.sorted { $0.precedes($1) })
        }
    }
#endif
