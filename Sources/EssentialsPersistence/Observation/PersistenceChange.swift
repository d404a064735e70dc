/// Rows that were changed, without their values.
///
/// ```swift
/// let observation = try store.observeChanges { change in
///     if change.touches(Film.table) { reload() }
/// }
/// ```
public struct PersistenceChange: Sendable, Hashable {
    /// The rows of one table.
    public enum Rows: Sendable, Hashable {
        /// The rows with these ids.
        case ids(Set<StoredValue>)
        /// Any rows.
        case unknown
    }

    /// The changed rows of each table.
    public private(set) var tables: [String: Rows]
    /// Whether rows of any table may have changed, as after a write of another process.
    public let isUnknown: Bool

    /// Creates a change of rows.
    public init(_ tables: [String: Rows]) {
        self.tables = tables
        isUnknown = false
    }

    private init(isUnknown: Bool) {
        tables = [:]
        self.isUnknown = isUnknown
    }

    /// A change of any rows.
    public static let unknown = PersistenceChange(isUnknown: true)

    /// Whether a row of the table may have changed.
    public func touches(_ table: String) -> Bool { isUnknown || tables[table] != nil }

    /// Whether one of these rows may have changed.
    public func touches(_ table: String, ids: Set<StoredValue>) -> Bool {
        if isUnknown { return true }
        switch tables[table] {
        case nil: return false
        case .unknown: return true
        case .ids(let changed): return !changed.isDisjoint(with: ids)
        }
    }
}

/// An observation, which ends when it is cancelled or released.
public final class PersistenceObservation: Sendable {
    private let end: @Sendable () -> Void

    /// Creates an observation that calls a closure at its end. The closure must allow several calls.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the observation. A call of the observer that has begun on another thread may still be running.
    public func cancel() { end() }

    deinit { end() }
}
