/// Options of a ``ReachabilityTracker``.
public struct ReachabilityOptions: Sendable {
    /// The time that a change must last before it is published, because a link can go up and down many times in a
    /// second. The default is zero, which publishes every change immediately.
    ///
    /// When the time has passed, the current status is published if it differs from the previous one. A change from
    /// ``ReachabilityStatus/unknown`` is published immediately. The maximum is 2³¹ seconds, about 68 years; a longer
    /// time counts as the maximum.
    public var debounce: Duration
    /// Resolves host names. The default is a ``SystemAddressResolver``.
    public var resolver: any AddressResolver
    /// The clock that measures the debounce and the time between resolutions. The default is a `ContinuousClock`.
    public var clock: any Clock<Duration>
    /// The directory where sysfs is mounted, which describes interfaces. The default is `/sys`.
    public var sysfsRoot: String

    /// Creates options.
    public init(
        debounce: Duration = .zero, resolver: any AddressResolver = SystemAddressResolver(),
        clock: any Clock<Duration> = ContinuousClock(), sysfsRoot: String = "/sys"
    ) {
        self.debounce = debounce
        self.resolver = resolver
        self.clock = clock
        self.sysfsRoot = sysfsRoot
    }
}
