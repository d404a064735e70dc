/// Finds rows that refer to rows which the levels of a scope have deleted, and which the store would change by itself.
///
/// A row that is set back to its base is pending no longer, because a save has nothing to write for it. A row that refers to
/// a deleted one is an exception: without an entry, `ON DELETE` would rewrite or delete it at the save like a row that others
/// have brought meanwhile, although the scope has shown it as it is. With its entry, the save fails.
package struct DeletedParents: Sendable {
    /// Knows no foreign keys.
    package static let unknown = DeletedParents(foreignKeys: [], keys: [:])

    /// The foreign keys of each table of children.
    private let foreignKeys: [String: [ChangingForeignKey]]
    /// The primary key of each table.
    private let keys: [String: String]

    /// - Parameters:
    ///   - foreignKeys: All foreign keys of the file whose `ON DELETE` changes children.
    ///   - keys: The column of the primary key of each table.
    package init(foreignKeys: [ChangingForeignKey], keys: [String: String]) {
        self.foreignKeys = Dictionary(grouping: foreignKeys, by: \.table)
        self.keys = keys
    }

    /// Whether a row refers to one that the levels have deleted. A foreign key to other columns than the primary key counts
    /// as one if rows of its parent table are deleted at all.
    package func areReferred(by row: StoredRow?, at key: RowKey, in machine: OverlayMachine) -> Bool {
        guard let row, let foreignKeys = foreignKeys[key.table] else { return false }
        return foreignKeys.contains { foreignKey in
            guard let values = foreignKey.reference(of: row) else { return false }
            guard values.count == 1, keys[foreignKey.parent] == foreignKey.keys[0] else {
                return machine.levels.contains { $0.hasDeletions(in: foreignKey.parent) }
            }
            if case .deleted = machine.find(RowKey(table: foreignKey.parent, id: values[0])) { return true }
            return false
        }
    }

    /// The rows of a unit of work that refer to deleted ones.
    ///
    /// - Parameter machine: The levels of the scope, and the unit of work on top.
    package func referring(_ work: OverlayLevel, in machine: OverlayMachine) -> Set<RowKey> {
        guard !foreignKeys.isEmpty else { return [] }
        var found: Set<RowKey> = []
        work.forEach { key, entry in
            if areReferred(by: entry.row, at: key, in: machine) { found.insert(key) }
        }
        return found
    }
}
