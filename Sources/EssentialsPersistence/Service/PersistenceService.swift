public import Dispatch

/// A store of models, or a scope of the store with its own changes.
///
/// Application code resolves a service from its locator, and need not know what stores the rows. The registered service
/// is the root scope. ``child(_:resolving:)`` creates scopes within it. A change in a scope with ``SaveLevel/pending``
/// is seen only by this scope and the scopes within it, until it is saved. Closing a scope drops its pending changes.
///
/// ```swift
/// let store = try locator.resolve((any PersistenceService).self)
/// try await store.create(Film(title: "Metropolis", year: 1926), save: .store)
///
/// let edits = try store.child("edit")
/// let film = try await edits.one(Film.where { $0.title == "Metropolis" })
/// try await edits.update(film.id, save: .pending) { $0.year = 1927 }
/// let silent = try await edits.fetch(Film.where { $0.year < 1930 })       // sees 1927; the store still says 1926
/// try await edits.save(.store)                                            // without this line nothing has happened
/// ```
///
/// Every call exists in three forms with one meaning: as an `async` method, with a completion handler (`start`), and
/// blocking (`wait`). The last two run a closure like ``perform(save:resolving:_:)`` and ``read(_:)``, or make a
/// ``PersistenceCall``. All can be used from any thread. All fail with ``PersistenceFailure`` only. A cancelled call
/// fails as `cancelled`; a save whose commit has begun succeeds.
///
/// A fetched value never changes. A read sees rows that others have saved meanwhile, except where a row is pending in
/// the scope or in a scope above it.
///
/// Implementations need the six requirements that have no default. Everything else is built on them.
public protocol PersistenceService: AnyObject, Sendable {
    /// The name of the scope, or the path of the store, for messages.
    var name: String { get }
    /// Whether the store can be used.
    var state: PersistenceState { get }
    /// Runs a job, on any thread, and ends it exactly once. A blocking job may run before the method returns.
    func run(_ job: PersistenceJob)
    /// A scope within this one. It keeps this scope alive, and may be created before the store is ready.
    ///
    /// - Parameters:
    ///   - name: The name, for messages.
    ///   - resolution: The resolution of conflicts for saves without one. The default is that of this scope.
    /// - Throws: A failure with the reason `limit` if scopes are nested too deeply, or `closed`.
    func child(
        _ name: String, resolving resolution: ConflictResolution?
    ) throws(PersistenceFailure) -> any PersistenceService
    /// Calls a closure after each change that the scope sees, pending or saved, by this scope or others, as long as the
    /// observation lives. Changes that were made before the observation began are not reported.
    ///
    /// The closure runs on any thread, one call at a time. It must return soon.
    func observeChanges(
        _ observer: @escaping @Sendable (PersistenceChange) -> Void
    ) throws(PersistenceFailure) -> PersistenceObservation
    /// Calls a closure with the present state and with each state that follows, in their order, as long as the
    /// observation lives. There are no calls after ``PersistenceState/closed``.
    ///
    /// The closure runs on any thread, one call at a time. It must return soon. The default implementation is for
    /// services whose state never changes: it calls the closure once, before it returns.
    func observeState(_ observer: @escaping @Sendable (PersistenceState) -> Void) -> PersistenceObservation
    /// The rows for a call that reads only rows with these ids, if the service can supply all of them at once, without
    /// a file and without waiting for another call. The call then runs on the thread of its caller, without a job.
    ///
    /// `nil`, which is the default, means that the call becomes a job.
    func rowsAtHand(of table: String, ids: [StoredValue]) -> (any WorkRows)?
    /// Drops all pending rows of the scope and ends it. Later calls, also those of scopes within it, fail as `closed`.
    /// The root scope also closes its store, and waits for running calls. Repeated calls do nothing.
    func close() async
}

extension PersistenceService {
    /// Calls the closure once with the present state.
    public func observeState(
        _ observer: @escaping @Sendable (PersistenceState) -> Void
    ) -> PersistenceObservation {
        observer(state)
        return PersistenceObservation {}
    }

    /// The default is `nil`.
    public func rowsAtHand(of table: String, ids: [StoredValue]) -> (any WorkRows)? { nil }

    /// A scope within this one; see ``child(_:resolving:)``.
    public func child(_ name: String) throws(PersistenceFailure) -> any PersistenceService {
        try child(name, resolving: nil)
    }

    // MARK: The three forms

    /// Makes a call, and returns its result. If the task is cancelled, the call is cancelled too.
    public func result<Value>(of call: PersistenceCall<Value>) async throws(PersistenceFailure) -> Value {
        if let lookup = call.plan.lookup, !Task.isCancelled,
            let rows = rowsAtHand(of: lookup.table, ids: lookup.ids), let value = try call.value(on: rows)
        {
            return value
        }
        let reference = JobReference()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = call.job { continuation.resume(returning: $0) }
                reference.set(job)
                run(job)
            }
        } onCancel: {
            reference.cancel()
        }.get()
    }

    /// Makes a call, and passes its result to a completion handler.
    ///
    /// The handler is called exactly once. It receives `cancelled` if the call was cancelled before it ended. A read
    /// that has ended is also cancelled if the job is cancelled before the handler runs.
    ///
    /// ```swift
    /// let job = store.start(.save(.store), completionQueue: queue) { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - completionQueue: The queue on which the handler runs. `nil` means a queue of the service, never the main
    ///     one.
    ///   - completion: Receives the result.
    /// - Returns: The job, which can be cancelled. Releasing it does not cancel it.
    @discardableResult
    public func start<Value>(
        _ call: PersistenceCall<Value>, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void
    ) -> PersistenceJob {
        let queue = completionQueue ?? .completions
        let isRead = call.plan.action == .read
        let reference = JobReference()
        let job = call.job { result in
            queue.async {
                // A cancelled read returns no value, even if it has ended. A committed save is reported as saved.
                let isCancelled = isRead && reference.isCancelled
                completion(isCancelled ? result.flatMap { _ in .failure(PersistenceJob.cancelled) } : result)
            }
        }
        reference.set(job)
        run(job)
        return job
    }

    /// Runs a closure that reads one state of all rows, or a unit of work if a level is given, and passes its result to
    /// a completion handler; see ``start(_:completionQueue:completion:)``.
    ///
    /// ```swift
    /// store.start(completionQueue: queue) { try $0.fetch(Film.all) } completion: { result in show(result) }
    /// store.start(save: .store) { try $0.create(film) } completion: { result in show(result) }
    /// ```
    @discardableResult
    public func start<Value: Sendable>(
        save level: SaveLevel? = nil, resolving resolution: ConflictResolution? = nil,
        completionQueue: DispatchQueue? = nil, _ work: @escaping @Sendable (PersistenceWork) throws -> Value,
        completion: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void
    ) -> PersistenceJob {
        start(.closure(level, resolution, work), completionQueue: completionQueue, completion: completion)
    }

    /// Makes a call, blocks the thread until it ends, and returns its result.
    ///
    /// It is for programs and threads that have no `async`. Inside a closure that runs on the store's connection it
    /// fails as ``PersistenceFailure/Reason-swift.struct/reentrant``, and before the store is open it fails as
    /// ``PersistenceFailure/Reason-swift.struct/notReady``.
    @available(*, noasync, message: "Use the asynchronous method of the same name.")
    @discardableResult
    public func wait<Value>(for call: PersistenceCall<Value>) throws(PersistenceFailure) -> Value {
        var call = call
        call.plan.isBlocking = true
        let gate = DispatchSemaphore(value: 0)
        let result = CallResult<Result<Value, PersistenceFailure>>()
        run(
            call.job { ended in
                result.value = ended
                gate.signal()
            })
        gate.wait()
        guard let ended = result.value else { throw PersistenceFailure(.closed, "The call has not ended.") }
        return try ended.get()
    }

    /// Runs a closure that reads one state of all rows, or a unit of work if a level is given, blocks the thread until
    /// it ends, and returns its result; see ``wait(for:)``.
    ///
    /// ```swift
    /// try store.wait(save: .store) { try $0.create(film) }
    /// let count = try store.wait { try $0.count(Film.all) }
    /// ```
    @available(*, noasync, message: "Use the asynchronous method of the same name.")
    @discardableResult
    public func wait<Value: Sendable>(
        save level: SaveLevel? = nil, resolving resolution: ConflictResolution? = nil,
        _ work: @escaping @Sendable (PersistenceWork) throws -> Value
    ) throws(PersistenceFailure) -> Value { try wait(for: .closure(level, resolution, work)) }

    // MARK: Units of work

    /// Runs a unit of work: a closure that reads and changes one state of all rows. All its changes are saved as its
    /// level says, or none is made.
    ///
    /// The closure runs on a thread of the service, never on that of the caller. It must use its parameter only, and no
    /// other part of the service.
    ///
    /// ```swift
    /// let moved = try await store.perform(save: .store) { work in
    ///     let studio = try work.one(Studio.where { $0.name == "Ufa" })
    ///     return try work.update(Film.where { $0.year < 1930 }) { $0.studioID = studio.id }
    /// }
    /// ```
    ///
    /// - Throws: The error of the closure, with the reason `work` unless it is a ``PersistenceFailure``, and the
    ///   failures of ``save(_:resolving:)``.
    @discardableResult
    public func perform<Value: Sendable>(
        save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ work: @escaping @Sendable (PersistenceWork) throws -> Value
    ) async throws(PersistenceFailure) -> Value {
        try await result(of: .perform(save: level, resolving: resolution, work))
    }

    /// Runs a closure that reads one state of all rows. It cannot change rows.
    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (PersistenceWork) throws -> Value
    ) async throws(PersistenceFailure) -> Value { try await result(of: .read(work)) }

    /// Fetches models and transforms each of them.
    ///
    /// - Throws: A failure with the reason `work` if the closure throws. Then no value is returned.
    public func fetch<Model: PersistentModel, Value: Sendable>(
        _ query: Query<Model>, _ transform: @escaping @Sendable (Model) throws -> Value
    ) async throws(PersistenceFailure) -> [Value] {
        try await result(of: .reading(query.node) { try $0.fetch(query).map(transform) })
    }

    // MARK: Pending rows

    /// Saves the pending rows of the scope.
    ///
    /// A save to the store includes all scopes above this one, even if the scope itself has nothing pending, and is one
    /// transaction. After a failure all scopes are as before.
    ///
    /// - Parameters:
    ///   - level: The destination. With ``SaveLevel/pending``, nothing happens.
    ///   - resolution: The resolution of conflicts. The default is that of the scope; if the scope has none, that of
    ///     each model.
    /// - Throws: A failure with the reason `conflict` that carries all conflicts, `constraint` that names the rows,
    ///   `full`, `readOnly`, `busy`, `cancelled`, or another failure of the store.
    @discardableResult
    public func save(
        _ level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> SaveReport { try await result(of: .save(level, resolving: resolution)) }

    /// Checks the outcome of a save into the store, and changes nothing.
    ///
    /// - Throws: The failure that ``save(_:resolving:)`` would throw.
    @discardableResult
    public func validate(resolving resolution: ConflictResolution? = nil) async throws(PersistenceFailure) -> SaveReport
    {
        try await result(of: .validate(resolving: resolution))
    }

    /// Drops all pending rows of the scope. Pending rows of scopes above it stay.
    public func rollback() async throws(PersistenceFailure) { try await result(of: .rollback()) }

    /// Drops the pending rows of a model that have these ids. Ids that are not pending are ignored.
    public func discard<Model: PersistentModel>(
        _ type: Model.Type, ids: [Model.ID]
    ) async throws(PersistenceFailure) { try await result(of: .discard(type, ids: ids)) }

    /// Waits until the store is open.
    ///
    /// - Throws: The failure that kept it from opening, or `closed`.
    public func ready() async throws(PersistenceFailure) {
        try await result(of: PersistenceCall(PersistenceJob.Plan(.read, tables: [])) { _ in })
    }
}
