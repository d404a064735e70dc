public import Dispatch
public import EssentialsReachability

/// A reachability service whose status is set by a test.
///
/// ```swift
/// let reachability = ControlledReachability(.unreachable(.noRoute))
/// try locator.replace(reachability, as: (any ReachabilityService).self)
/// reachability.set(.local)
/// ```
public final class ControlledReachability: ReachabilityService {
    private let board = StatusBoard()

    /// Creates a service with an initial status.
    public init(_ status: ReachabilityStatus = .unknown) { board.publish(status) }

    deinit { board.close() }

    /// Sets the status and notifies all observers.
    public func set(_ status: ReachabilityStatus) { board.publish(status) }

    /// The current status.
    public var status: ReachabilityStatus { board.status }
    /// A stream of the statuses from now on; see `ReachabilityService`.
    public var statuses: AsyncStream<ReachabilityStatus> { board.stream() }

    /// Calls a handler with the current status and with every change; see `ReachabilityService`.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        board.observe(on: queue, handler)
    }
}
