public import Dispatch
public import EssentialsReachability

/// A reachability that says what a test tells it.
///
/// ```swift
/// let reachability = ControlledReachability(.unreachable(.noRoute))
/// try locator.replace(reachability, as: (any ReachabilityService).self)
/// reachability.set(.local)
/// ```
public final class ControlledReachability: ReachabilityService {
    private let board = StatusBoard()

    /// Makes one with its first status.
    public init(_ status: ReachabilityStatus = .unknown) { board.publish(status) }

    deinit { board.close() }

    /// Says another status, to all observers.
    public func set(_ status: ReachabilityStatus) { board.publish(status) }

    /// The status that was set last.
    public var status: ReachabilityStatus { board.status }
    /// The statuses from now on; see the protocol.
    public var statuses: AsyncStream<ReachabilityStatus> { board.stream() }

    /// Calls a handler with the present status, and then with every change; see the protocol.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        board.observe(on: queue, handler)
    }
}
