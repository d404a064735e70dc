/// Something that happens to a store, as a ``StoreObserver`` is told it. It contains no values of rows.
///
/// ```swift
/// func observe(_ event: StoreEvent) {
///     if case .called(let call) = event.kind, call.action == .save { histogram.record(call.duration) }
/// }
/// ```
public struct StoreEvent: Sendable, Hashable {
    /// The store, which is the path of its file if it has one.
    public let store: String
    /// When it happened.
    public let instant: ContinuousClock.Instant
    /// What happened.
    public let kind: Kind

    /// Creates an event, for services and test doubles.
    public init(_ kind: Kind, store: String, instant: ContinuousClock.Instant = .now) {
        (self.kind, self.store, self.instant) = (kind, store, instant)
    }

    /// What happened. New kinds may be added, so an observer has a `default`.
    public enum Kind: Sendable, Hashable {
        /// The store is open. The calls that wait for it run after this was told.
        case opened
        /// The store could not be opened, for this reason.
        case openingFailed(PersistenceFailure.Reason)
        /// A call has ended, with success or not. Each call that has begun its work has one such event, before its caller
        /// resumes, unless the caller has cancelled it.
        case called(Call)
        /// A scope was closed, and its pending rows are lost: the name of the scope, or the path for the root scope, and
        /// the number of rows.
        case discarded(scope: String, rows: Int)
        /// The store is closed. Later calls fail, and are told too.
        case closed
    }

    /// A call of a service.
    public struct Call: Sendable, Hashable {
        /// What a call does.
        public enum Action: String, Sendable, Hashable {
            /// It reads.
            case read
            /// It changes rows, which become pending.
            case change
            /// It saves to the parent scope.
            case saveToParent
            /// It saves to the store.
            case save
            /// It checks the outcome of a save, and changes nothing.
            case validate
            /// It writes rows straight into the store.
            case importRows
            /// It drops all pending rows of the scope.
            case rollback
            /// It drops some pending rows of the scope.
            case discard
        }

        /// What the call does.
        public let action: Action
        /// The name of its scope; for the root scope the path of the store.
        public let scope: String
        /// The time from the beginning of its work, without the wait for a thread, with the wait for other calls that
        /// change the scope.
        public let duration: Duration
        /// The effect on the rows of the store. It is all zero unless rows were saved or imported.
        public let report: SaveReport
        /// Why it failed; `nil` if it has succeeded.
        public let failure: PersistenceFailure.Reason?
        /// The number of rows that others had changed too, of a call that failed as `conflict`: at most 100.
        public let conflicts: Int
        /// The number of pending rows of the scope after the call.
        public let pendingRows: Int
        /// The size in bytes of the log of a store over SQLite after a save or an import; `nil` for other calls and
        /// services.
        public let logBytes: Int64?

        /// Creates a call, for services and test doubles.
        public init(
            _ action: Action, scope: String, duration: Duration, result: Result<SaveReport, PersistenceFailure>,
            pendingRows: Int = 0, logBytes: Int64? = nil
        ) {
            (self.action, self.scope, self.duration) = (action, scope, duration)
            (self.pendingRows, self.logBytes) = (pendingRows, logBytes)
            switch result {
            case .success(let report): (self.report, failure, conflicts) = (report, nil, 0)
            case .failure(let error): (report, failure, conflicts) = (SaveReport(), error.reason, error.conflicts.count)
            }
        }
    }
}

/// Is told what happens to a store, such as to count or record it.
///
/// ```swift
/// final class ConflictCounter: StoreObserver {
///     let count = Atomic(0)
///
///     func observe(_ event: StoreEvent) {
///         if case .called(let call) = event.kind { count.add(call.conflicts, ordering: .relaxed) }
///     }
/// }
/// ```
///
/// A store without observers makes no events. Observers of rows are told by
/// ``PersistenceService/observeChanges(_:)``.
public protocol StoreObserver: Sendable {
    /// Receives an event.
    ///
    /// It is called on the thread of the call, without a lock, so it must not block. The events of different calls come at
    /// the same time.
    func observe(_ event: StoreEvent)
}
