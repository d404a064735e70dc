public import Dispatch
public import EssentialsReachability
import Synchronization

/// Tracks whether the servers of the environment in force can be reached, and follows it when it changes.
///
/// ```swift
/// try locator.registerLazy((any ReachabilityService).self) { locator in
///     try EnvironmentReachability(locator.resolve((any EnvironmentService).self))
/// }
/// for await status in reachability.statuses where status.isReachable() { retryNow() }
/// ```
///
/// Advice only: no request is held back by it. After a change of the environment the status of the old host counts no
/// more, and observers are told of the new one's.
public final class EnvironmentReachability: ReachabilityService {
    private struct State {
        var host: String
        /// Counts the hosts: what the tracker of an earlier one says counts no more.
        var generation = 0
        var tracker: ReachabilityTracker?
        var observation: ReachabilityObservation?
    }

    private let board = StatusBoard()
    private let state: Mutex<State?>
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Starts to track the host of the environment's base URL.
    ///
    /// - Parameters:
    ///   - environment: Where requests go; its changes are followed.
    ///   - options: How the tracking is done.
    /// - Throws: when the system gives no descriptor or no thread.
    public init(
        _ environment: any EnvironmentService, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        // Asked for before the first look, so that no change is missed.
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

    /// The newest status of the host in force; unknown once the tracking was stopped.
    public var status: ReachabilityStatus { board.status }
    /// The statuses from now on; see the protocol.
    public var statuses: AsyncStream<ReachabilityStatus> { board.stream() }

    /// Calls a handler with the present status, and then with every change; see the protocol.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        board.observe(on: queue, handler)
    }

    /// Ends the tracking: streams and observations end. Any number of times.
    public func stop() {
        watch.withLock { $0.take() }?.cancel()
        let last = state.withLock { $0.take() }
        last?.observation?.cancel()
        last?.tracker?.stop()
        board.close()
    }

    private func follow(_ host: String, _ options: ReachabilityOptions) {
        // A tracker costs a thread, and asks for the name's addresses.
        guard state.withLock({ $0.map { $0.host != host } ?? false }) else { return }
        let tracker = try? ReachabilityTracker(host: host, options: options)
        let (old, generation) = state.withLock { state -> (State?, Int) in
            guard let old = state, old.host != host else { return (nil, 0) }
            state = State(host: host, generation: old.generation + 1, tracker: tracker)
            // Without a tracker nothing is known of the new host, and the old one's status is no answer.
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
