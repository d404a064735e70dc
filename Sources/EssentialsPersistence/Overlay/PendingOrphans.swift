/// Finds pending rows that the store would change by itself, because they refer to rows that the scope's levels have
/// deleted.
///
/// A row that is set back to its base is no longer pending, because a save has nothing to write for it. An orphan is an
/// exception. Without an entry, `ON DELETE` would rewrite or delete it during the save, although the scope has shown it
/// unchanged. With its entry, the save fails.
package struct PendingOrphans: Sendable {
    /// Finds no orphans, because it has no foreign keys.
    package static let unknown = PendingOrphans(foreignKeys: [], keys: [:])

    /// The foreign keys of each child table whose `ON DELETE` changes children.
    private let foreignKeys: [String: [ForeignKey]]
    /// The primary key of each table.
    private let keys: [String: String]

    /// - Parameters:
    ///   - foreignKeys: All foreign keys of the file.
    ///   - keys: The column of the primary key of each table.
    package init(foreignKeys: [ForeignKey], keys: [String: String]) {
        self.foreignKeys = Dictionary(grouping: foreignKeys.filter(\.action.changesChildren), by: \.table)
        self.keys = keys
    }

    /// Whether a row refers to a row that the levels have deleted. If a foreign key does not refer to the primary key,
    /// any deleted row of its parent table counts.
    package func contains(_ row: StoredRow?, at key: RowKey, in machine: OverlayMachine) -> Bool {
        guard let row, let foreignKeys = foreignKeys[key.table] else { return false }
        return foreignKeys.contains { foreignKey in
            guard let values = foreignKey.reference(of: row) else { return false }
            guard values.count == 1, keys[foreignKey.parent] == foreignKey.keys.first else {
                return machine.levels.contains { $0.hasDeletions(in: foreignKey.parent) }
            }
            if case .deleted = machine.find(RowKey(table: foreignKey.parent, id: values[0])) { return true }
            return false
        }
    }

    /// The orphans among the rows of a unit of work.
    ///
    /// - Parameter machine: The levels of the scope, and the unit of work on top.
    package func rows(of work: OverlayLevel, in machine: OverlayMachine) -> Set<RowKey> {
        guard !foreignKeys.isEmpty else { return [] }
        var found: Set<RowKey> = []
        work.forEach { key, entry in
            if contains(entry.row, at: key, in: machine) { found.insert(key) }
        }
        return found
    }
}
