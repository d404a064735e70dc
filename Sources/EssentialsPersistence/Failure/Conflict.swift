/// A row that a scope changed, and that others have changed since.
///
/// ```swift
/// for conflict in failure.conflicts where conflict.table == Film.table {
///     let film = try conflict.models(of: Film.self)
///     ask("Keep \(film.mine?.title ?? "deleted") or \(film.theirs?.title ?? "deleted")?")
/// }
/// ```
public struct Conflict: Sendable, Hashable {
    /// A change of the row in the scope.
    public enum Change: String, Sendable, Hashable {
        /// It created the row.
        case insert
        /// It changed the row.
        case update
        /// It deleted the row.
        case delete
    }

    /// The maximum number of conflicts in one failure.
    package static let maximum = 100

    /// The table of the row.
    public let table: String
    /// The id of the row.
    public let id: StoredValue
    /// The change in the scope.
    public let change: Change
    /// The columns that both changed to different values. Empty if either side created or deleted the row.
    public let columns: [String]
    /// The row before both changes; `nil` if the scope created it.
    public let base: StoredRow?
    /// The row in the scope; `nil` if the scope deleted it.
    public let mine: StoredRow?
    /// The row now; `nil` if others deleted it.
    public let theirs: StoredRow?

    /// Creates a conflict.
    public init(
        table: String, id: StoredValue, change: Change, columns: [String] = [], base: StoredRow?, mine: StoredRow?,
        theirs: StoredRow?
    ) {
        self.table = table
        self.id = id
        self.change = change
        self.columns = columns
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }

    /// The three rows as models.
    ///
    /// - Throws: A failure with the reason `decoding`.
    public func models<Model: PersistentModel>(
        of type: Model.Type
    ) throws(PersistenceFailure) -> (base: Model?, mine: Model?, theirs: Model?) {
        func model(_ row: StoredRow?) throws(PersistenceFailure) -> Model? {
            guard let row else { return nil }
            return try RowDecoder.model(type, from: row)
        }
        return (try model(base), try model(mine), try model(theirs))
    }
}

extension PersistenceFailure {
    /// The failure of a save with conflicts. One row can be in conflict at several levels.
    package static func conflicts(_ conflicts: [Conflict]) -> PersistenceFailure {
        let tables = Set(conflicts.map(\.table))
        var keys: Set<RowKey> = []
        let rows = conflicts.filter { keys.insert(RowKey(table: $0.table, id: $0.id)).inserted }
        return PersistenceFailure(
            .conflict, "Others have changed \(rows.count) of the rows since they were read.",
            model: tables.count == 1 ? tables.first : nil, ids: rows.map(\.id), conflicts: conflicts)
    }
}

/// The decision of a save about rows that others have changed. The default is ``fail``.
///
/// | the scope | the row now | `fail` | `mine` | `theirs` | `mergeColumns` |
/// |---|---|---|---|---|---|
/// | changed it | unchanged | save | save | save | save |
/// | changed it | other columns changed | conflict | my whole row | their row | save the changed columns |
/// | changed it | the same column changed | conflict | my whole row | their row | conflict |
/// | changed it | deleted | conflict | insert it again | drop the change | conflict |
/// | deleted it | changed | conflict | delete | their row | conflict |
/// | deleted it | deleted | nothing | nothing | nothing | nothing |
/// | created it | its id exists | conflict | replace | their row | conflict |
///
/// If both made the same row, there is no conflict.
public enum ConflictPolicy: Sendable, Hashable, CaseIterable {
    /// The save fails with all conflicts, and changes nothing.
    case fail
    /// The scope's row wins, whatever others did.
    case mine
    /// The row of others wins, and the scope's change is dropped.
    case theirs
    /// The columns that the scope changed are saved. A column that both changed is a conflict.
    case mergeColumns
}
