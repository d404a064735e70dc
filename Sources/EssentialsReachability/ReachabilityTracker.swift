public import Dispatch

/// Tracks whether the system has a route to a host.
///
/// The tracker listens to the kernel's notifications about interfaces, addresses, routes and rules. After each change
/// it looks up the route to the host in the kernel's tables. It sends nothing to the host. An ``AddressResolver``
/// resolves a name.
///
/// ```swift
/// let tracker = try ReachabilityTracker(host: "api.example.com")
/// let observation = tracker.observe(on: .main) { status in banner.show(status) }
/// for await status in tracker.statuses where status.isReachable() { retryNow() }
/// tracker.stop()
/// ```
///
/// The status is advice; see ``ReachabilityStatus`` for what each status guarantees. The best address of a host counts.
/// A name is resolved at the start, whenever a route becomes available after there was none, and, while it is not
/// resolved, after network changes, at most once per second. If that fails, the status is
/// ``ReachabilityStatus/unknown``, or that of the previously known addresses.
///
/// A tracker has a thread, which sleeps while nothing changes, and four descriptors. It lives as long as it is
/// referenced. Its streams and observations do not reference it, and end with it or with ``stop()``. A tracker observes
/// the network namespace of the thread that creates it, but the resolver looks up names in its own.
public final class ReachabilityTracker: ReachabilityService {
    /// The target that is tracked.
    public let target: ReachabilityTarget
    private let loop: ReachabilityLoop

    /// Starts to track a target.
    ///
    /// The status of an address is known when this initializer returns. The status of a name is
    /// ``ReachabilityStatus/unknown`` until the name is resolved; ``settledStatus()`` waits for that.
    ///
    /// - Throws: ``ReachabilityError/Reason/system`` if the system cannot provide a descriptor or a thread.
    public init(
        _ target: ReachabilityTarget, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        self.target = target
        let wake = try WakeChannel()
        do throws(ReachabilityError) {
            // Subscribe first, so that a change during the first lookup is noticed.
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
    ///   - options: The options of the tracker.
    /// - Throws: ``ReachabilityError/Reason/invalidTarget`` if the text is neither; otherwise as ``init(_:options:)``.
    public convenience init(
        host: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        try self.init(ReachabilityTarget(host), options: options)
    }

    /// Tracks with replaced sources instead of the kernel, and takes ownership of their descriptors.
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

    /// Only signals the thread to end, because waiting for it could block.
    deinit { loop.signalStop() }

    /// The current status. Reading it never blocks. It is ``ReachabilityStatus/unknown`` after the tracker is stopped.
    public var status: ReachabilityStatus { loop.board.status }

    /// A stream of the current status and then every change, until the tracker is stopped.
    ///
    /// At most 4,096 streams and observations exist at a time. A further stream delivers the current status and ends.
    public var statuses: AsyncStream<ReachabilityStatus> { loop.board.stream() }

    /// Calls a handler with the current status and then with every change; see ``ReachabilityService/observe(on:_:)``.
    ///
    /// If the tracker is stopped, or has 4,096 streams and observations, the handler receives the current status once
    /// and the observation is not active.
    public func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        loop.board.observe(on: queue, handler)
    }

    /// The status after the name was resolved for the first time, or could not be resolved.
    ///
    /// It returns the current status immediately if the task is cancelled, if 4,096 tasks already wait, or if the
    /// tracker is stopped.
    public func settledStatus() async -> ReachabilityStatus { await loop.board.settledStatus() }

    /// Resolves the name and looks up the route again, for changes that the kernel does not report.
    ///
    /// It does not wait for the result. A name is resolved at most once per second.
    public func refresh() { loop.refresh() }

    /// Stops the tracker: its streams and observations end, its thread ends, and its descriptors are closed.
    ///
    /// It can be called from any thread and any number of times. It waits for the thread, which takes well below a
    /// millisecond because the thread never blocks. It does not wait for a name resolution.
    public func stop() { loop.stop() }
}
