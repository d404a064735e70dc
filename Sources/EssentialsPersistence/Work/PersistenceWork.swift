/// The rows that a unit of work reads and changes: all rows that the scope sees at one moment, with the changes that
/// the unit has made so far.
///
/// All changes of a unit become pending together. If the unit throws or its save fails, none does. Its calls are
/// synchronous and throw ``PersistenceFailure``. It is used inside its closure only; later calls fail as
/// ``PersistenceFailure/Reason-swift.struct/closed``.
///
/// ```swift
/// let moved = try await edits.perform(save: .store) { work in
///     let studio = try work.one(Studio.where { $0.name == "Ufa" })
///     return try work.update(Film.where { $0.year < 1930 }) { $0.studioID = studio.id }
/// }
/// ```
public struct PersistenceWork {
    /// The rows that the unit sees.
    public let rows: any WorkRows

    /// Creates a unit of work over the rows of a service.
    public init(_ rows: any WorkRows) { self.rows = rows }

    func coder<Model: PersistentModel>(_ type: Model.Type) throws(PersistenceFailure) -> ModelCoder<Model> {
        try ModelCoder<Model>(rows.layout(of: Model.table))
    }

    static func stored<Model: PersistentModel>(
        _ ids: some Sequence<Model.ID>, of type: Model.Type
    ) throws(PersistenceFailure) -> [StoredValue] {
        var stored: [StoredValue] = []
        for id in ids {
            guard let value = id.storedValue else { throw invalidID(Model.self) }
            stored.append(value)
        }
        return stored
    }

    static func invalidID<Model: PersistentModel>(_ type: Model.Type) -> PersistenceFailure {
        PersistenceFailure(
            .invalidQuery, "An id cannot be stored: it is out of range or has a NUL character.", model: Model.table)
    }
}

/// The behaviour of a call if an id has no row.
public enum MissingRows: Sendable, Hashable {
    /// The call fails as ``PersistenceFailure/Reason-swift.struct/notFound``, names all missing ids and changes
    /// nothing.
    case fail
    /// The call ignores missing rows.
    case ignore
}
