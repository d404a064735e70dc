/// Decides the outcome of a pending change, given the row below it.
///
/// See ``ConflictPolicy`` for the table.
package enum ConflictRules {
    package enum Outcome: Sendable, Hashable {
        /// The row is replaced by this one, or deleted.
        case apply(StoredRow?)
        /// The row stays as it is, and the change is dropped.
        case keep
        case conflict(Conflict)
    }

    /// The outcome of a change.
    ///
    /// - Parameters:
    ///   - entry: The change.
    ///   - key: The key of the row.
    ///   - theirs: The row now; `nil` if it does not exist.
    ///   - decide: Decides a conflict. It is called for real conflicts only.
    package static func outcome<Failure: Error>(
        of entry: OverlayEntry, at key: RowKey, theirs: StoredRow?,
        decide: (Conflict) throws(Failure) -> ConflictDecision
    ) throws(Failure) -> Outcome {
        // Both created the same row, or both deleted it.
        if entry.row == theirs { return .keep }
        if entry.base == theirs { return .apply(entry.row) }
        let overlap = overlap(entry, theirs)
        let conflict = Conflict(
            table: key.table, id: key.id, change: entry.change,
            columns: overlap?.map { theirs?.layout.names[$0] ?? "" } ?? [], base: entry.base, mine: entry.row,
            theirs: theirs)
        switch try decide(conflict).kind {
        case .row(let row): return row == theirs ? .keep : .apply(row)
        case .policy(.fail): return .conflict(conflict)
        case .policy(.mine): return .apply(entry.row)
        case .policy(.theirs): return .keep
        case .policy(.mergeColumns):
            guard let overlap, overlap.isEmpty, let theirs, case .updated(let row, let base) = entry else {
                return .conflict(conflict)
            }
            return .apply(theirs.replacing(row.changes(from: base), from: row))
        }
    }

    /// The columns that both changed to different values; `nil` unless both updated the row.
    private static func overlap(_ entry: OverlayEntry, _ theirs: StoredRow?) -> [Int]? {
        guard case .updated(let row, let base) = entry, let theirs else { return nil }
        let changed = Set(theirs.changes(from: base))
        let different = Set(theirs.changes(from: row))
        return row.changes(from: base).filter { changed.contains($0) && different.contains($0) }
    }
}
