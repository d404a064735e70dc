/// How a tracker works.
public struct ReachabilityOptions: Sendable {
    /// How long a change has to last before it is told; links can go up and down many times in a second.
    ///
    /// When it has passed, the status of that moment is told, and nothing if it is the old one again. What follows
    /// ``ReachabilityStatus/unknown`` is told at once. Zero, the default, tells everything at once. The
    /// longest is 2³¹ seconds, some 68 years; more counts as that.
    public var debounce: Duration
    /// Finds the addresses of names.
    public var resolver: any AddressResolver
    /// What the times are measured by.
    public var clock: any Clock<Duration>
    /// Where sysfs is mounted, which tells what interfaces are.
    public var sysfsRoot: String

    /// Makes options.
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
