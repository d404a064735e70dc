import EssentialsHTTP
import EssentialsRequests
import Synchronization

/// What a load has given to those who wait for it.
enum LoadOutcome: Sendable {
    /// The value, and its projections for the content types that were known.
    case loaded(LoadedValue, [any AnyProjection])
    /// The server has confirmed the content that was there, with these header fields.
    case notModified([any AnyProjection], HTTPFields)
    /// The load has failed, or was cancelled.
    case failed(RequestFailure)

    /// The content of a type.
    func content<Content: Sendable>(of type: Content.Type, _ codecs: CodecRegistry) throws(RequestFailure) -> Content {
        switch self {
        case .failed(let failure): throw failure
        case .loaded(let value, let projections):
            if let projection = projections.projection(of: type) { return try projection.result.get() }
            if let result = value.content(of: type, codecs) { return try result.get() }
        case .notModified(let projections, _):
            if let projection = projections.projection(of: type) { return try projection.result.get() }
        }
        throw .otherContent(than: type)
    }

    static let cancelledFailure = RequestFailure(.cancelled, "The load was cancelled.")
    static let cancelled = LoadOutcome.failed(cancelledFailure)
}

/// One load: its task, and the tasks that wait for its outcome.
///
/// The core counts how many are interested. This object only holds their continuations.
final class LoadRun: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var outcome: LoadOutcome?
        var waiters: [UInt64: CheckedContinuation<LoadOutcome, Never>] = [:]
        /// The waiters that were cancelled before they had a continuation.
        var departed: Set<UInt64> = []
        var nextWaiter: UInt64 = 0
        /// What is called with the outcome.
        var listeners: [@Sendable (LoadOutcome) -> Void] = []
    }

    /// The number that the resource's machine has given to the load.
    let number: UInt64
    /// The highest priority of those who are interested. It begins with the lowest one, so that the priority of the
    /// request applies.
    let priority = RaisablePriority()
    /// Whether the caches are read before a request is sent.
    let awaitsCache: Bool
    /// For whom the load is sent. Only those for whom it is the same join it.
    let scope: CredentialScope?
    /// How far the load is, if somebody has asked for it.
    let measurement = LoadMeasurement()
    private let state = Mutex(State())
    #if DEBUG
        private let mark = LiveMark(.load)
    #endif

    init(number: UInt64, awaitsCache: Bool = false, scope: CredentialScope? = nil) {
        (self.number, self.awaitsCache, self.scope) = (number, awaitsCache, scope)
    }

    /// Starts the task of the load, unless the load has ended already.
    ///
    /// The task begins on the thread of the caller and leaves it at its first wait, which saves a change of threads.
    func start(_ operation: @escaping @Sendable () async -> Void) {
        let task = Task.immediate { await operation() }
        let isOver = state.withLock { state in
            guard state.outcome == nil else { return true }
            state.task = task
            return false
        }
        // It was cancelled meanwhile, or has ended.
        if isOver { task.cancel() }
    }

    /// Whether the load has ended.
    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Ends the load. Only the first outcome counts.
    func end(_ outcome: LoadOutcome) {
        let told = state.withLock {
            state -> ([CheckedContinuation<LoadOutcome, Never>], [@Sendable (LoadOutcome) -> Void]) in
            guard state.outcome == nil else { return ([], []) }
            state.outcome = outcome
            state.task = nil
            defer { (state.waiters, state.listeners) = ([:], []) }
            return (Array(state.waiters.values), state.listeners)
        }
        for waiter in told.0 { waiter.resume(returning: outcome) }
        for listener in told.1 { listener(outcome) }
    }

    /// Calls a closure with the outcome; at once if the load has ended.
    func whenEnded(_ listener: @escaping @Sendable (LoadOutcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.listeners.append(listener) }
            return state.outcome
        }
        if let outcome { listener(outcome) }
    }

    /// Ends the load as cancelled, and cancels its task.
    func cancel() {
        let task = state.withLock { $0.task }
        end(.cancelled)
        task?.cancel()
    }

    /// Waits for the outcome. A task that is cancelled stops waiting at once, with the outcome `cancelled`; the load
    /// itself goes on.
    ///
    nonisolated(nonsending) func outcome() async -> LoadOutcome {
        let known = state.withLock { state -> (LoadOutcome?, UInt64) in
            state.nextWaiter += 1
            return (state.outcome, state.nextWaiter)
        }
        if let outcome = known.0 { return outcome }
        let id = known.1
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> LoadOutcome? in
                    if let outcome = state.outcome { return outcome }
                    guard state.departed.remove(id) == nil else { return .cancelled }
                    state.waiters[id] = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<LoadOutcome, Never>? in
            guard state.outcome == nil else { return nil }
            if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
            state.departed.insert(id)
            return nil
        }
        waiter?.resume(returning: .cancelled)
    }
}
