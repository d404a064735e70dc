/// How one conflict is decided.
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

    /// The conflict is decided as a policy says.
    public static func policy(_ policy: ConflictPolicy) -> ConflictDecision { ConflictDecision(.policy(policy)) }
    /// The save fails.
    public static let fail = policy(.fail)
    /// The scope's row counts.
    public static let mine = policy(.mine)
    /// The row of others counts.
    public static let theirs = policy(.theirs)
    /// The columns that the scope changed count, unless others changed the same ones.
    public static let mergeColumns = policy(.mergeColumns)
    /// This row counts.
    public static func row(_ row: StoredRow) -> ConflictDecision { ConflictDecision(.row(row)) }

    /// This model counts. Columns that are not part of the model keep the value that they have now.
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

/// How the conflicts of a save are decided: by a policy for all, or by a closure for each.
///
/// A scope can have a resolution of its own, which counts for saves that name none. Without either, the model's
/// ``PersistentModel/conflictPolicy`` counts.
public struct ConflictResolution: Sendable {
    package let decide: @Sendable (Conflict) throws -> ConflictDecision

    /// Decides each conflict by a closure. It runs while the store's only writer waits, so it asks nobody: a dialogue
    /// belongs between a save that has failed and the next one.
    ///
    /// - Parameter decide: Receives each conflict. An error that it throws makes the save fail with the reason `work`.
    public init(_ decide: @escaping @Sendable (Conflict) throws -> ConflictDecision) { self.decide = decide }

    /// Decides all conflicts by a policy.
    public static func policy(_ policy: ConflictPolicy) -> ConflictResolution {
        ConflictResolution { _ in .policy(policy) }
    }

    /// The save fails with all conflicts, and changes nothing.
    public static let fail = policy(.fail)
    /// The scope's rows count, whatever others did.
    public static let mine = policy(.mine)
    /// The rows of others count, and the scope's changes to them are dropped.
    public static let theirs = policy(.theirs)
    /// The columns that the scope changed count, unless others changed the same ones.
    public static let mergeColumns = policy(.mergeColumns)
}
