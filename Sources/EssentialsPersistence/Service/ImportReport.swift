/// The handling of a model in an import if a row with its id or one of its unique values exists.
///
/// ```swift
/// try await store.importRows(of: Film.self, from: films, onConflict: .replace)
/// ```
public enum ImportConflict: Sendable, Hashable, CaseIterable {
    /// The batch fails as ``PersistenceFailure/Reason-swift.struct/constraint``, and names the rows.
    case fail
    /// The existing row stays, and the model is skipped. Other constraints still fail the batch.
    case ignore
    /// The row with the id takes the values of the model; columns outside the model keep theirs. The batch fails if a
    /// row with another id has one of the model's unique values.
    case replace
}

/// The number of models that an import has stored.
///
/// ```swift
/// do throws(PersistenceFailure) {
///     try await store.importRows(of: Film.self, from: films)
/// } catch {
///     print("\(error.imported?.rows ?? 0) models are stored; continue with the next one.")
/// }
/// ```
public struct ImportReport: Sendable, Hashable {
    /// The number of batches that are stored.
    public var batches = 0
    /// The number of new rows.
    public var inserted = 0
    /// The number of existing rows that have new values.
    public var replaced = 0
    /// The number of models that were skipped because a row existed.
    public var ignored = 0
    /// The number of rows that triggers have changed.
    public var cascaded = 0

    /// The number of models in the stored batches.
    public var rows: Int { inserted + replaced + ignored }

    /// Creates an empty report.
    public init() {}

    /// The report of one batch.
    init(_ batch: SaveReport) {
        batches = 1
        (inserted, replaced, ignored, cascaded) = (batch.inserted, batch.updated, batch.kept, batch.cascaded)
    }

    mutating func add(_ other: ImportReport) {
        batches += other.batches
        inserted += other.inserted
        replaced += other.replaced
        ignored += other.ignored
        cascaded += other.cascaded
    }
}
