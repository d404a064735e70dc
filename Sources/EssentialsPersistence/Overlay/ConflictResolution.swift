/// The decision of one conflict.
///
/// ```swift
/// let resolution = ConflictResolution { conflict in
///     conflict.columns.isEmpty ? .mergeColumns : .fail
/// }
/// try await edits.save(.store, resolving: resolution)
/// ```
public struct ConflictDecision: Sendable {
    package enum Kind: Sendable {
        case policy(ConflictPolicy)
        case row(StoredRow)
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// A policy decides the conflict.
    public static func policy(_ policy: ConflictPolicy) -> ConflictDecision { ConflictDecision(.policy(policy)) }
    /// The save fails.
    public static let fail = policy(.fail)
    /// The scope's row wins.
    public static let mine = policy(.mine)
    /// The row of others wins.
    public static let theirs = policy(.theirs)
    /// The columns that the scope changed are saved. A column that both changed is a conflict.
    public static let mergeColumns = policy(.mergeColumns)
    /// The conflict ends with this row.
    public static func row(_ row: StoredRow) -> ConflictDecision { ConflictDecision(.row(row)) }

    /// The conflict ends with this model. Columns that are not part of the model keep their current values.
    ///
    /// - Throws: A failure with the reason `invalidModel` or `encoding`, or if the conflict is about another model.
    public static func model<Model: PersistentModel>(
        _ model: Model, for conflict: Conflict
    ) throws(PersistenceFailure) -> ConflictDecision {
        guard conflict.table == Model.table, model.id.storedValue == conflict.id,
            let known = conflict.theirs ?? conflict.mine ?? conflict.base
        else {
            throw PersistenceFailure(
                .invalidModel, "The decision is about another row than the conflict.", model: Model.table,
                ids: [conflict.id])
        }
        return .row(try RowEncoder.row(model, layout: known.layout, base: known))
    }
}

/// Decides the conflicts of a save: by a policy for all, or by a closure for each.
///
/// A scope can have its own resolution, which applies to saves without one. If neither exists, the
/// ``PersistentModel/conflictPolicy`` of the model applies.
public struct ConflictResolution: Sendable {
    package let decide: @Sendable (Conflict) throws -> ConflictDecision

    /// Decides each conflict by a closure. The closure runs while the store's only writer waits, so it must not wait
    /// for a user: show a dialogue after a failed save, before the next one.
    ///
    /// - Parameter decide: Receives each conflict. An error that it throws makes the save fail with the reason `work`.
    public init(_ decide: @escaping @Sendable (Conflict) throws -> ConflictDecision) { self.decide = decide }

    /// Decides all conflicts by a policy.
    public static func policy(_ policy: ConflictPolicy) -> ConflictResolution {
        ConflictResolution { _ in .policy(policy) }
    }

    /// The save fails with all conflicts, and changes nothing.
    public static let fail = policy(.fail)
    /// The scope's rows win, whatever others did.
    public static let mine = policy(.mine)
    /// The rows of others win, and the scope's changes to them are dropped.
    public static let theirs = policy(.theirs)
    /// The columns that the scope changed are saved. A column that both changed is a conflict.
    public static let mergeColumns = policy(.mergeColumns)
}
