public import Dispatch
public import EssentialsReachability
import EssentialsTools

/// Tracks whether the server of the current environment can be reached, and follows changes of the environment.
///
/// ```swift
/// try locator.registerLazy((any ReachabilityService).self) { locator in
///     try EnvironmentReachability(locator.resolve((any EnvironmentService).self))
/// }
/// for await status in reachability.statuses where status.isReachable() { retryNow() }
/// ```
///
/// The status is only advice: it delays no request. After a change of the environment, the status of the old host no
/// longer counts, and observers receive the status of the new host.
public final class EnvironmentReachability: ReachabilityService {
    private struct State {
        var host: String
        /// Counts the hosts, so that reports from the tracker of an earlier host are ignored.
        var generation = 0
        var tracker: ReachabilityTracker?
        var observation: ReachabilityObservation?
    }

    private let board = StatusBoard()
    private let state: Mutex<State?>
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Starts tracking the host of the environment's base URL.
    ///
    /// - Parameters:
    ///   - environment: The environment, whose changes are followed.
    ///   - options: The options of the tracker.
    /// - Throws: A `ReachabilityError` if the system provides no descriptor or no thread.
    public init(
        _ environment: any EnvironmentService, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        // Subscribed before the base URL is read, so that no change is missed.
        let changes = environment.changes
        let host = environment.baseURL.origin.host.text
        let tracker = try ReachabilityTracker(host: host, options: options)
        board.publish(tracker.status)
        state = Mutex(State(host: host, tracker: tracker))
        listen(to: tracker, generation: 0)
        let task = Task { [weak self] in
            for await current in changes { self?.follow(current.baseURL.origin.host.text, options) }
        }
        watch.withLock { $0 = task }
    }

    deinit {
        watch.withLock { $0.take() }?.cancel()
        board.close()
    }

    /// The latest status of the current host. It is unknown after ``stop()``.
    public var status: ReachabilityStatus { board.status }
    /// A stream of the statuses from now on; see the protocol.
    public var statuses: AsyncStream<ReachabilityStatus> { board.stream() }

    /// Calls a handler with the current status and then with every change; see the protocol.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        board.observe(on: queue, handler)
    }

    /// Stops tracking and ends all streams and observations. Further calls do nothing.
    public func stop() {
        watch.withLock { $0.take() }?.cancel()
        let last = state.withLock { $0.take() }
        last?.observation?.cancel()
        last?.tracker?.stop()
        board.close()
    }

    private func follow(_ host: String, _ options: ReachabilityOptions) {
        // A tracker costs a thread and a name lookup.
        guard state.withLock({ $0.map { $0.host != host } ?? false }) else { return }
        let tracker = try? ReachabilityTracker(host: host, options: options)
        let (old, generation) = state.withLock { state -> (State?, Int) in
            guard let old = state, old.host != host else { return (nil, 0) }
            state = State(host: host, generation: old.generation + 1, tracker: tracker)
            // Without a tracker nothing is known about the new host, and the status of the old host does not apply.
            board.publish(tracker?.status ?? .unknown)
            return (old, old.generation + 1)
        }
        guard let old else {
            tracker?.stop()
            return
        }
        old.observation?.cancel()
        old.tracker?.stop()
        if let tracker { listen(to: tracker, generation: generation) }
    }

    private func listen(to tracker: ReachabilityTracker, generation: Int) {
        let observation = tracker.observe { [weak self] status in
            self?.state.withLock { state in
                guard state?.generation == generation else { return }
                self?.board.publish(status)
            }
        }
        let isCurrent = state.withLock { state in
            guard state?.generation == generation else { return false }
            state?.observation = observation
            return true
        }
        if !isCurrent { observation.cancel() }
    }
}
