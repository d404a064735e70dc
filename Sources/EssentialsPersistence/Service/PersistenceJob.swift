import EssentialsTools

/// One running call of a persistence service, with the destination of its result.
///
/// Every call of ``PersistenceService``, whether `async`, with a handler or blocking, becomes one job, which the
/// service receives in ``PersistenceService/run(_:)``. A service ends each job exactly once.
///
/// ```swift
/// func run(_ job: PersistenceJob) {
///     queue.async {
///         do throws(PersistenceFailure) {
///             try job.run(on: MyRows())
///             job.finish(.success(SaveReport()))
///         } catch {
///             job.finish(.failure(error))
///         }
///     }
/// }
/// ```
public final class PersistenceJob: Sendable {
    /// The action of a job.
    public enum Action: Sendable, Hashable {
        /// It reads.
        case read
        /// It changes rows, or only saves pending ones, as its level says.
        case change(SaveLevel)
        /// It checks the outcome of a save into the store, and changes nothing.
        case validate
        /// It writes the rows that it places straight into the store, in one transaction. It reads nothing. The columns
        /// are those of the model: all other columns get their defaults in a new row, and keep their values in a
        /// replaced row. The report counts replaced rows as updated, and ignored ones as kept.
        case importRows(ImportConflict, columns: Set<String>)
        /// It drops all pending rows of the scope.
        case rollback
        /// It drops the pending rows of a table that have these ids.
        case discard(table: String, ids: [StoredValue])
    }

    /// The properties of a job that a service knows before it runs.
    public struct Plan: Sendable {
        /// The action of the job.
        public var action: Action
        /// The tables that the job reads; `nil` if it may read all.
        public var tables: Set<String>?
        /// The resolution of conflicts; `nil` if the call has none.
        public var resolution: ConflictResolution?
        /// Whether the caller's thread waits for the end, so that the job may run on that thread. Then a service does
        /// not wait for a store that is being opened.
        public var isBlocking = false
        /// The rows that the job reads by their ids, if it reads nothing else.
        package var lookup: (table: String, ids: [StoredValue])?
        /// The change of the job, if a service may execute it without the caller's closure. Then the result of the call
        /// is made from the report.
        package var statement: RowStatement?
        /// Whether the job keeps its snapshot of the rows while it waits for its caller.
        package var holdsState = false

        /// Creates a plan.
        public init(_ action: Action, tables: Set<String>? = nil, resolution: ConflictResolution? = nil) {
            self.action = action
            self.tables = tables
            self.resolution = resolution
        }
    }

    private enum Stage { case waiting, begun, running, ended }

    private struct State {
        var stage = Stage.waiting
        var isCancelled = false
        var interrupt: (@Sendable () -> Void)?
        var completion: (@Sendable (Result<SaveReport, PersistenceFailure>) -> Void)?
    }

    /// The plan, which is known before the job runs.
    public let plan: Plan
    private let body: @Sendable (PersistenceWork) throws -> Void
    private let state: Mutex<State>

    package init(
        _ plan: Plan, body: @escaping @Sendable (PersistenceWork) throws -> Void,
        completion: @escaping @Sendable (Result<SaveReport, PersistenceFailure>) -> Void
    ) {
        self.plan = plan
        self.body = body
        state = Mutex(State(completion: completion))
    }

    // MARK: For services

    /// Runs the caller's part of the job. A service calls it at most once, and then ``finish(_:)``.
    ///
    /// - Parameter rows: The rows that the call sees and changes.
    /// - Throws: The error of the caller's closure, as a failure with the reason `work` unless it is a
    ///   ``PersistenceFailure``; or `cancelled`.
    public func run(on rows: any WorkRows) throws(PersistenceFailure) {
        let isFirst = state.withLock { state in
            guard state.stage == .waiting || state.stage == .begun, !state.isCancelled else { return false }
            state.stage = .running
            return true
        }
        guard isFirst else { throw Self.cancelled }
        try Self.result { () throws in try body(PersistenceWork(rows)) }
    }

    /// Begins the job without the caller's part, which may still run later. From now on, the service ends the job if it
    /// is cancelled.
    ///
    /// - Throws: `cancelled`.
    package func begin() throws(PersistenceFailure) {
        let isFirst = state.withLock { state in
            guard state.stage == .waiting, !state.isCancelled else { return false }
            state.stage = .begun
            return true
        }
        guard isFirst else { throw Self.cancelled }
    }

    /// The result of a caller's closure.
    ///
    /// - Throws: The error of the closure, as a failure with the reason `work` unless it is a ``PersistenceFailure``.
    package static func result<Value>(
        of table: String? = nil, ids: [StoredValue] = [], _ body: () throws -> Value
    ) throws(PersistenceFailure) -> Value {
        do {
            return try body()
        } catch let failure as PersistenceFailure {
            throw failure
        } catch {
            throw PersistenceFailure(
                .work, "The closure has thrown \(type(of: error)).", model: table, ids: ids, underlying: error)
        }
    }

    /// Ends the job. Calls after the first one do nothing.
    public func finish(_ result: Result<SaveReport, PersistenceFailure>) {
        let completion = state.withLock { state in
            defer { (state.stage, state.completion, state.interrupt) = (.ended, nil, nil) }
            return state.completion
        }
        completion?(result)
    }

    /// Sets a closure that interrupts the job when it is cancelled. Pass `nil` as soon as the job can no longer be
    /// stopped. The closure is called at most once, and immediately if the job is already cancelled.
    ///
    /// When this method returns, no earlier closure is running.
    public func onCancel(_ interrupt: (@Sendable () -> Void)?) {
        state.withLock { state in
            state.interrupt = interrupt
            // The closure runs under the lock, so that it is never called for work that has ended.
            if state.isCancelled { interrupt?() }
        }
    }

    /// Whether the job was cancelled. A service checks it between two steps.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    static var cancelled: PersistenceFailure { PersistenceFailure(.cancelled, "The call was cancelled.") }

    // MARK: For callers

    /// Cancels the call. It can be called on any thread.
    ///
    /// A waiting call ends at once, and a running statement is interrupted; both fail as `cancelled`. A save whose
    /// commit has begun succeeds.
    public func cancel() {
        let completion = state.withLock { state -> (@Sendable (Result<SaveReport, PersistenceFailure>) -> Void)? in
            guard !state.isCancelled else { return nil }
            state.isCancelled = true
            state.interrupt?()
            guard state.stage == .waiting else { return nil }
            defer { (state.stage, state.completion, state.interrupt) = (.ended, nil, nil) }
            return state.completion
        }
        completion?(.failure(Self.cancelled))
    }
}
