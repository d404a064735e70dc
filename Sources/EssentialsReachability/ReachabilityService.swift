public import Dispatch

/// Publishes whether a host is reachable. This protocol is what an application registers in a service locator.
///
/// ```swift
/// try locator.registerLazy((any ReachabilityService).self) { _ in
///     try ReachabilityTracker(host: "api.example.com")
/// }
///
/// let reachability = try locator.resolve((any ReachabilityService).self)
/// for await status in reachability.statuses where status.isReachable() { retryNow() }
/// ```
///
/// The status is advice. Use it to resume work that waits for a network, and to explain a failure that has occurred. Do
/// not use it to hold back a request: only the attempt shows whether the host is reachable.
public protocol ReachabilityService: AnyObject, Sendable {
    /// The current status. Reading it never blocks.
    var status: ReachabilityStatus { get }

    /// A stream of the current status and then every change, until the service is stopped.
    ///
    /// Each access creates a new stream. A slow reader skips intermediate statuses and receives the newest.
    var statuses: AsyncStream<ReachabilityStatus> { get }

    /// Calls a handler with the current status and then with every change.
    ///
    /// Calls never overlap. A slow handler skips intermediate statuses.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called; `nil` for a serial queue of the service.
    ///   - handler: The handler, which is kept until the observation ends.
    /// - Returns: The observation, which ends when it is cancelled or released.
    func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation
}

extension ReachabilityService {
    /// Whether an attempt is worthwhile now. The status `unknown` counts as reachable.
    public func isReachable(_ preference: ReachabilityPreference = .any) -> Bool { status.isReachable(preference) }

    /// Calls a handler on a serial queue of the service; see ``observe(on:_:)``.
    public func observe(
        _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        observe(on: nil, handler)
    }
}
