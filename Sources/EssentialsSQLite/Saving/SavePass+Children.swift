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

        /// Whether a row refers to one that the save deletes.
        func refersToDeleted(_ row: StoredRow, at key: RowKey) -> Bool {
            save.changingKeys.contains { foreignKey in
                guard foreignKey.table == key.table, let reference = foreignKey.reference(of: row) else { return false }
                return deleted.contains(reference, foreignKey)
            }
        }

        /// The foreign key whose parent is missing; `nil` if the row is stored as the scope has shown it, or if another
        /// violation was noted. A reference that others have made, and that was merged into the row, follows `ON DELETE`.
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
                // With the row, those that refer to it have been changed or deleted. They would not come back.
                guard now != nil else { return foreignKey }
                changed.append(foreignKey)
            }
            guard !changed.isEmpty else { return nil }
            let columns = Set(changed.flatMap(\.columns))
            let indices = row.layout.names.indices.filter { columns.contains(row.layout.names[$0]) }
            do {
                // A trigger that ignores the update leaves the row as `ON DELETE` has made it.
                return try statements.update(row, columns: indices, id: key.id) ? nil : changed.first
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                guard db.isInsideTransaction else { throw error }
                failed.insert(key)
                try note(error, at: key)
                return nil
            }
        }

        /// Notes a violation if `ON DELETE` has taken a row that is not there any more, and returns whether it has.
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
