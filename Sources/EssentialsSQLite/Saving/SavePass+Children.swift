#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Checks how `ON DELETE` has changed the rows of the save.
    ///
    /// `ON DELETE` may change or delete rows that others have written meanwhile. But the scope has shown its own rows
    /// unchanged. So a save that would store them differently fails, as it does for a created row. Foreign keys that do
    /// not change children are skipped: SQLite finds their violations itself.
    extension SavePass {
        /// Checks the rows that refer to a row that the save has deleted. If these deletions have cascaded, it checks
        /// all rows with such references. If another row has taken over the referenced value, the reference is written
        /// again.
        mutating func checkChildren() throws {
            var found: [EssentialsPersistence.ForeignKey: [StoredValue]] = [:]
            for (table, foreignKeys) in Dictionary(grouping: save.changingKeys, by: \.table) {
                for (id, entry) in save.level.entries(in: table) {
                    let key = RowKey(table: table, id: id)
                    guard let row = entry.row, !dropped.contains(key), !ignored.contains(key), !failed.contains(key),
                        hasCascaded || refersToDeleted(row, at: key), let lost = try lost(row, at: key, foreignKeys)
                    else { continue }
                    failed.insert(key)
                    found[lost, default: []].append(id)
                }
            }
            for foreignKey in save.changingKeys {
                guard let ids = found[foreignKey] else { continue }
                violations.append(Self.violation(of: foreignKey, ids))
            }
        }

        /// Whether a row refers to a row that the save deletes.
        func refersToDeleted(_ row: StoredRow, at key: RowKey) -> Bool {
            save.changingKeys.contains { foreignKey in
                guard foreignKey.table == key.table, let reference = foreignKey.reference(of: row) else { return false }
                return deleted.contains(reference, foreignKey)
            }
        }

        /// The foreign key whose parent is missing; `nil` if the row is stored as the scope has shown it, or if another
        /// violation was noted. If others made the reference and it was merged into the row, `ON DELETE` may change it.
        private mutating func lost(
            _ row: StoredRow, at key: RowKey, _ foreignKeys: [EssentialsPersistence.ForeignKey]
        ) throws -> EssentialsPersistence.ForeignKey? {
            let statements = try statements(key, row)
            let now = try statements.read(key.id)
            var changed: [EssentialsPersistence.ForeignKey] = []
            for foreignKey in foreignKeys {
                guard let reference = foreignKey.reference(of: row),
                    decided[key].map({ foreignKey.reference(of: $0) == reference }) ?? true
                else { continue }
                let (isStored, isDeleted) = (
                    foreignKey.reference(of: now) == reference, deleted.contains(reference, foreignKey)
                )
                if !isStored || isDeleted, try foreignKey.isMissing(reference, db) { return foreignKey }
                guard !isStored, isDeleted else { continue }
                // The rows that refer to this row were changed or deleted with it. Inserting this row again would not
                // restore them.
                guard now != nil else { return foreignKey }
                changed.append(foreignKey)
            }
            guard !changed.isEmpty else { return nil }
            let columns = Set(changed.flatMap(\.columns))
            let indices = row.layout.names.indices.filter { columns.contains(row.layout.names[$0]) }
            do {
                // If a trigger ignores the update, the row stays as `ON DELETE` has left it.
                return try statements.update(row, columns: indices, id: key.id) ? nil : changed.first
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                guard db.isInsideTransaction else { throw error }
                failed.insert(key)
                try note(error, at: key)
                return nil
            }
        }

        /// Notes a violation if `ON DELETE` has deleted a missing row, and returns whether it has.
        mutating func wasTaken(_ key: RowKey, _ statements: RowStatements) throws -> Bool {
            guard hasCascaded, save.changingKeys.contains(where: { $0.table == key.table }) else { return false }
            let old = try before.row(key.id, model: model(key), layout: statements.layout)
            for foreignKey in save.changingKeys where foreignKey.table == key.table {
                guard let reference = foreignKey.reference(of: old) else { continue }
                guard try deleted.contains(reference, foreignKey) || foreignKey.isMissing(reference, db) else {
                    continue
                }
                failed.insert(key)
                violations.append(Self.violation(of: foreignKey, [key.id]))
                return true
            }
            return false
        }

        private static func violation(
            of foreignKey: EssentialsPersistence.ForeignKey, _ ids: [StoredValue]
        ) -> ConstraintViolation {
            ConstraintViolation(
                .foreignKey, table: foreignKey.table, columns: foreignKey.columns, parent: foreignKey.parent,
                ids: ids.sorted { $0.precedes($1) })
        }
    }
#endif
