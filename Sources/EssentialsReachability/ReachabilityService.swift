public import Dispatch

/// Tells whether a host can be reached: what is registered in a service locator.
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
/// It is advice. Use it to wake what waits for a network and to explain a failure that has happened, never to hold a
/// request back: only the attempt finds out.
public protocol ReachabilityService: AnyObject, Sendable {
    /// The newest status. It never waits.
    var status: ReachabilityStatus { get }

    /// The statuses from now on: the present one at once, then every change, until the service is stopped.
    ///
    /// Each use makes a stream of its own. A slow reader misses what came in between and gets the newest.
    var statuses: AsyncStream<ReachabilityStatus> { get }

    /// Calls a handler with the present status, and then with every change.
    ///
    /// The calls never overlap, and a slow handler misses what came in between.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called; nil is a serial queue of the service's own.
    ///   - handler: Kept until the observation ends.
    /// - Returns: What ends the observation. Dropping it does so, too.
    func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation
}

extension ReachabilityService {
    /// Whether an attempt is worthwhile now. Unknown counts as worth a try.
    public func isReachable(_ preference: ReachabilityPreference = .any) -> Bool { status.isReachable(preference) }

    /// Calls a handler on a serial queue of the service's own; see ``observe(on:_:)``.
    public func observe(
        _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        observe(on: nil, handler)
    }
}
