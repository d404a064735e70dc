import EssentialsTools

/// The error type of persistence services.
///
/// A failure says what happened, to which rows, and what to try. Its texts contain no values of rows except ids.
///
/// ```swift
/// do throws(PersistenceFailure) {
///     try await edits.save(.store)
/// } catch where error.reason == .conflict {
///     show(error.conflicts)                        // base, mine and theirs; the scope is as it was
/// } catch {
///     log(error.message, error.remedy)
/// }
/// ```
public struct PersistenceFailure: Error, Sendable {
    /// The parts of a failure. They are behind a reference, so that a failure is one word.
    private struct Content: Sendable {
        var reason: Reason
        var message: String
        var remedy: String?
        var store: String?
        var model: String?
        var ids: [StoredValue]
        var conflicts: [Conflict]
        var violations: [ConstraintViolation]
        var underlying: (any Error)?
        var imported: ImportReport?
        var isOfOpening = false
    }

    private let storage: Shared<Content>

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - message: What happened, in one sentence without values of rows.
    ///   - remedy: What to try, as an imperative sentence. The default is the remedy of the reason.
    ///   - store: The path or the name of the store.
    ///   - model: The table of the model.
    ///   - ids: The ids of the rows.
    ///   - conflicts: The conflicts of a save.
    ///   - violations: The violated constraints.
    ///   - underlying: The underlying error.
    public init(
        _ reason: Reason, _ message: String, remedy: String? = nil, store: String? = nil, model: String? = nil,
        ids: [StoredValue] = [], conflicts: [Conflict] = [], violations: [ConstraintViolation] = [],
        underlying: (any Error)? = nil
    ) {
        storage = Shared(
            Content(
                reason: reason, message: message, remedy: remedy, store: store, model: model, ids: ids,
                conflicts: conflicts, violations: violations, underlying: underlying))
    }

    private init(_ content: Content) { storage = Shared(content) }

    /// The failure with a model, unless it names one already.
    package func naming(model: String) -> PersistenceFailure {
        guard self.model == nil else { return self }
        var content = storage.values
        content.model = model
        return PersistenceFailure(content)
    }

    /// The failure with the ids of rows, unless it names some already.
    package func naming(ids: [StoredValue]) -> PersistenceFailure {
        guard self.ids.isEmpty, !ids.isEmpty else { return self }
        var content = storage.values
        content.ids = ids
        return PersistenceFailure(content)
    }

    /// The failure with a store, unless it names one already.
    package func naming(store: String) -> PersistenceFailure {
        guard self.store == nil else { return self }
        var content = storage.values
        content.store = store
        return PersistenceFailure(content)
    }

    /// The failure for a store that did not open. A reason that concerns a call becomes
    /// ``Reason-swift.struct/opening``, because no call was made.
    package func ofOpening() -> PersistenceFailure {
        var content = storage.values
        content.isOfOpening = true
        if reason.isOfCalls { content.reason = .opening }
        return PersistenceFailure(content)
    }

    /// The failure of an import, with the report of the rows that were stored before it.
    package func importing(_ report: ImportReport) -> PersistenceFailure {
        guard imported == nil else { return self }
        var content = storage.values
        content.imported = report
        return PersistenceFailure(content)
    }

    /// The kind of failure. Its ``Reason-swift.struct/name`` is stable across versions.
    public var reason: Reason { storage.values.reason }
    /// What happened, in one sentence.
    public var message: String { storage.values.message }
    /// What to try. `nil` if nothing helps, as after a cancellation.
    public var remedy: String? { storage.values.remedy ?? reason.remedy }
    /// The path or the name of the store.
    public var store: String? { storage.values.store }
    /// The table of the model, if the failure concerns one model.
    public var model: String? { storage.values.model }
    /// The ids of the rows, as far as they are known.
    public var ids: [StoredValue] { storage.values.ids }
    /// The conflicts of a save that failed with ``Reason-swift.struct/conflict``: at most 100.
    public var conflicts: [Conflict] { storage.values.conflicts }
    /// The constraints that a save violated, if it failed with ``Reason-swift.struct/constraint``: at most 100 rows in
    /// all. Empty if only ``ids`` names the rows.
    public var violations: [ConstraintViolation] { storage.values.violations }
    /// The report of the rows that an import stored before it failed. `nil` for all other calls.
    public var imported: ImportReport? { storage.values.imported }
    /// The underlying error, if any.
    public var underlying: (any Error)? { storage.values.underlying }

    /// The number that earlier persistence services reported for this failure: 2000 for an error of the caller's own
    /// code, 2001 for a store that is not ready or could not be opened, whatever the reason. `nil` for all others.
    public var legacyCode: Int? { storage.values.isOfOpening ? 2001 : reason.legacyCode }
}

/// Two failures are equal if they have the same reason, store, model and ids.
extension PersistenceFailure: Hashable {
    /// Compares reason, store, model and ids.
    public static func == (one: PersistenceFailure, other: PersistenceFailure) -> Bool {
        one.reason == other.reason && one.store == other.store && one.model == other.model && one.ids == other.ids
    }

    /// Hashes reason, store, model and ids.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(store)
        hasher.combine(model)
        hasher.combine(ids)
    }
}

extension PersistenceFailure: CustomStringConvertible {
    /// The maximum number of ids in a description.
    private static let shownIDs = 3

    /// The reason, the message, the remedy, the model and the first ids in one line.
    ///
    /// ```
    /// notFound: There is no such row. Fetch the rows again. film x'018f…'
    /// ```
    public var description: String {
        var text = "\(reason.name): \(message)"
        if let remedy { text += " \(remedy)" }
        if let model { text += " \(model)" }
        if !ids.isEmpty {
            text += " " + ids.prefix(Self.shownIDs).map(\.description).joined(separator: ", ")
            if ids.count > Self.shownIDs { text += " and \(ids.count - Self.shownIDs) more" }
        }
        return text
    }
}
