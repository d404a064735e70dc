public import Dispatch

/// Tracks whether the system knows a way to a host.
///
/// It listens to what the kernel announces about interfaces, addresses, routes and rules, and after each change looks
/// up in the kernel's tables which way a packet to the host would take. Nothing is sent to the host; a name is resolved
/// by the ``AddressResolver``.
///
/// ```swift
/// let tracker = try ReachabilityTracker(host: "api.example.com")
/// let observation = tracker.observe(on: .main) { status in banner.show(status) }
/// for await status in tracker.statuses where status.isReachable() { retryNow() }
/// tracker.stop()
/// ```
///
/// What it says is advice; see ``ReachabilityStatus`` for what each status promises, and what not. A host's best
/// address counts. A name is resolved at the start, whenever there is a way again after there was none, and, as long as
/// it is not resolved, at changes of the network, at most once in a second. A failure to do so is
/// ``ReachabilityStatus/unknown``, or leaves the status to the addresses that were known before.
///
/// A tracker has a thread, which sleeps while nothing changes, and four descriptors. It lives as long as it is held,
/// and its streams and observations do not hold it: with the last reference, or by ``stop()``, they end. Everything is
/// about the network namespace of the thread that makes it, except names, which the resolver looks up in its own.
public final class ReachabilityTracker: ReachabilityService {
    /// What a way is looked for to.
    public let target: ReachabilityTarget
    private let loop: ReachabilityLoop

    /// Starts to track a target.
    ///
    /// That of an address is known when this returns. A name's is ``ReachabilityStatus/unknown`` until it is resolved;
    /// ``settledStatus()`` waits for that.
    ///
    /// - Throws: ``ReachabilityError/Reason/system`` when the system gives no descriptor or no thread.
    public init(
        _ target: ReachabilityTarget, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        self.target = target
        let wake = try WakeChannel()
        do throws(ReachabilityError) {
            // Listening comes first: a change that comes during the first look is heard.
            let events = try KernelEvents()
            do throws(ReachabilityError) {
                let routes = try KernelRoutes(sysfsRoot: options.sysfsRoot)
                loop = ReachabilityLoop(target, options: options, events: events, routes: routes, wake: wake)
            } catch {
                events.close()
                throw error
            }
        } catch {
            wake.close()
            throw error
        }
        try loop.begin()
    }

    /// Starts to track a host.
    ///
    /// - Parameters:
    ///   - host: A name, or an IPv4 or IPv6 address.
    ///   - options: How it is done.
    /// - Throws: ``ReachabilityError/Reason/invalidTarget`` for a text that is neither, else as ``init(_:options:)``.
    public convenience init(
        host: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        try self.init(ReachabilityTarget(host), options: options)
    }

    /// Tracks what others say instead of the kernel. Takes over their descriptors.
    init(
        _ target: ReachabilityTarget, options: ReachabilityOptions, events: any NetworkEvents, routes: any RouteLookup
    ) throws(ReachabilityError) {
        self.target = target
        let wake: WakeChannel
        do throws(ReachabilityError) {
            wake = try WakeChannel()
        } catch {
            events.close()
            routes.close()
            throw error
        }
        loop = ReachabilityLoop(target, options: options, events: events, routes: routes, wake: wake)
        try loop.begin()
    }

    /// Waiting for the thread could take as long as the system likes, so that it is only told to end.
    deinit { loop.signalStop() }

    /// The newest status. It never waits. ``ReachabilityStatus/unknown`` once the tracker is stopped.
    public var status: ReachabilityStatus { loop.board.status }

    /// The statuses from now on: the present one at once, then every change, until the tracker is stopped.
    ///
    /// There are up to 4,096 streams and observations at a time. One more gets the present status and ends.
    public var statuses: AsyncStream<ReachabilityStatus> { loop.board.stream() }

    /// Calls a handler with the present status, and then with every change; see ``ReachabilityService/observe(on:_:)``.
    ///
    /// The observation of a tracker that is stopped, or has 4,096 streams and observations, gets the present status and
    /// is not active.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        loop.board.observe(on: queue, handler)
    }

    /// The status, once the name is resolved for the first time or could not be.
    ///
    /// A cancelled task, one of more than 4,096 that wait, and one that waits while the tracker is stopped get the
    /// status as it is then.
    public func settledStatus() async -> ReachabilityStatus { await loop.board.settledStatus() }

    /// Resolves the name and looks the way up anew, for reasons that the kernel does not know of.
    ///
    /// It does not wait for the result. Names are resolved at most once in a second.
    public func refresh() { loop.refresh() }

    /// Ends the tracking: streams and observations end, the thread ends, and its descriptors are free.
    ///
    /// From any thread, any number of times. It waits for the thread, which takes well below a millisecond, as it never
    /// waits itself. A name that is being resolved is not waited for.
    public func stop() { loop.stop() }
}
