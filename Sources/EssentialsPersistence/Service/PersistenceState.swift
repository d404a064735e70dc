/// Whether a store can be used.
public enum PersistenceState: Sendable, Hashable {
    /// The store is being opened in the background. Asynchronous calls wait until it is open; blocking calls fail as
    /// ``PersistenceFailure/Reason-swift.struct/notReady``.
    case opening
    /// The store is open.
    case ready
    /// The store could not be opened. Every call fails with this failure, on all scopes.
    case failed(PersistenceFailure)
    /// The service or a scope above it was closed.
    case closed
}
