/// Whether the system knows a way to a host, and over which interface.
///
/// It says what the kernel would do with a packet now. That is advice: nothing was sent, no status promises an answer,
/// and none is a reason not to send a request.
///
/// ```swift
/// switch tracker.status {
/// case .unreachable(let error): banner.show("Offline: \(error)")
/// case .routed(let interface) where interface.kind == .wwan: downloads.pause()
/// default: banner.hide()
/// }
/// ```
public enum ReachabilityStatus: Sendable, Hashable, CustomStringConvertible {
    /// Nothing is known: the name is not resolved yet or could not be, or the tracker is stopped. Try.
    case unknown
    /// A packet could not leave this machine: there is no route, it is forbidden, or its interface has no carrier.
    ///
    /// An attempt made now fails, at once or by a timeout. The next moment may be different.
    case unreachable(RouteError)
    /// The address is one of this machine's own. It does not promise that anything listens there.
    case local
    /// A packet would go to the host itself over this interface. It does not promise that the host is switched on.
    case direct(NetworkInterface)
    /// A packet would go to a router over this interface. It promises nothing about what lies behind that router: not a
    /// network, not the Internet, not the host.
    case routed(NetworkInterface)

    /// The interface that packets leave by, where there is one.
    public var interface: NetworkInterface? {
        switch self {
        case .direct(let interface), .routed(let interface): interface
        case .unknown, .unreachable, .local: nil
        }
    }

    /// Whether an attempt is worthwhile under a preference. Unknown counts as worth a try.
    public func isReachable(_ preference: ReachabilityPreference = .any) -> Bool {
        switch self {
        case .unknown, .local: true
        case .unreachable: false
        case .direct(let interface), .routed(let interface): preference.allows(interface.kind)
        }
    }

    /// The status in words, such as “routed via eth0 (ethernet)”.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .unreachable(let error): "unreachable: \(error) (\(error.code))"
        case .local: "local"
        case .direct(let interface): "direct via \(interface)"
        case .routed(let interface): "routed via \(interface)"
        }
    }
}

/// How the statuses of a host's addresses become one.
enum StatusRules {
    /// The best status of several addresses: a connection attempt tries them all.
    ///
    /// A way counts more than doubt, and doubt more than the lack of a way. Of several errors the first one counts that
    /// says more than that there is no route, because a missing address family says that of half of all addresses.
    static func best(of statuses: [ReachabilityStatus]) -> ReachabilityStatus {
        var best: ReachabilityStatus?
        for status in statuses {
            guard let known = best, rank(status) <= rank(known) else {
                best = status
                continue
            }
        }
        return best ?? .unknown
    }

    private static func rank(_ status: ReachabilityStatus) -> Int {
        switch status {
        case .local: 5
        case .direct: 4
        case .routed: 3
        case .unknown: 2
        case .unreachable(let error): error.code == RouteError.noRoute.code ? 0 : 1
        }
    }
}
