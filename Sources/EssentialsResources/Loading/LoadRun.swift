import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The result of a load for the tasks that wait for it.
enum LoadOutcome: Sendable {
    /// The value, and its projections for the content types that were known.
    case loaded(LoadedValue, [any AnyProjection])
    /// The server has confirmed the existing content, with these header fields.
    case notModified([any AnyProjection], HTTPFields)
    /// The load has failed, or was cancelled.
    case failed(RequestFailure)

    /// Returns the content as a type.
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
/// The core counts the tasks and interests that keep the load running.
final class LoadRun: Sendable {
    /// The number that the resource's machine has given to the load.
    let number: UInt64
    /// The highest priority of the interested tasks. It begins with the lowest one, so that the priority of the request
    /// applies.
    let priority = RaisablePriority()
    /// Whether the caches are read before a request is sent.
    let awaitsCache: Bool
    /// The credentials of the load. Only callers with the same credentials join it.
    let scope: CredentialScope?
    /// The progress of the load, if it was requested.
    let measurement = LoadMeasurement()
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let outcome = OneShot<LoadOutcome>()
    #if DEBUG
        private let mark = LiveMark(.load)
    #endif

    init(number: UInt64, awaitsCache: Bool = false, scope: CredentialScope? = nil) {
        (self.number, self.awaitsCache, self.scope) = (number, awaitsCache, scope)
    }

    /// Starts the task of the load, unless the load has already ended.
    ///
    /// The task begins on the caller's thread and leaves it at its first wait, which saves a thread switch.
    func start(_ operation: @escaping @Sendable () async -> Void) {
        let started = Task.immediate { await operation() }
        task.withLock { $0 = started }
        // The load was cancelled meanwhile, or has ended.
        if hasEnded { take()?.cancel() }
    }

    /// Whether the load has ended.
    var hasEnded: Bool { outcome.isProvided }

    /// Ends the load. Only the first outcome counts.
    func end(_ outcome: LoadOutcome) {
        if self.outcome.provide(outcome) { _ = take() }
    }

    /// Calls a closure with the outcome; at once if the load has ended.
    func whenEnded(_ listener: @escaping @Sendable (LoadOutcome) -> Void) { outcome.whenProvided(listener) }

    /// Ends the load as cancelled, and cancels its task.
    func cancel() {
        if outcome.provide(.cancelled) { take()?.cancel() }
    }

    /// Waits for the outcome. A cancelled task stops waiting at once, with the outcome `cancelled`, while the load
    /// itself continues.
    func outcome() async -> LoadOutcome { await outcome.valueUnlessCancelled() ?? .cancelled }

    /// Forgets the task. After the end of the load, the task is neither kept nor cancelled.
    private func take() -> Task<Void, Never>? { task.withLock { $0.take() } }
}
