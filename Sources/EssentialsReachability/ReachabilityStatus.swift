/// Whether the system has a route to a host, and over which interface.
///
/// The status says what the kernel would do with a packet now. It is advice: nothing was sent, no status guarantees a
/// response, and none is a reason not to send a request.
///
/// ```swift
/// switch tracker.status {
/// case .unreachable(let error): banner.show("Offline: \(error)")
/// case .routed(let interface) where interface.kind == .wwan: downloads.pause()
/// default: banner.hide()
/// }
/// ```
public enum ReachabilityStatus: Sendable, Hashable, CustomStringConvertible {
    /// Nothing is known: the name is not resolved yet or could not be resolved, or the tracker is stopped. Try the
    /// request.
    case unknown
    /// A packet cannot leave this machine: there is no route, it is forbidden, or its interface has no carrier.
    ///
    /// An attempt made now fails, immediately or by a timeout. The status can change at any time.
    case unreachable(RouteError)
    /// The address is one of this machine's own. This does not mean that a program listens there.
    case local
    /// A packet would be sent directly to the host over this interface. This does not mean that the host is running.
    case direct(NetworkInterface)
    /// A packet would be sent to a router over this interface. This says nothing about the network behind that router,
    /// the Internet, or the host.
    case routed(NetworkInterface)

    /// The interface that packets to the host use; `nil` if there is none.
    public var interface: NetworkInterface? {
        switch self {
        case .direct(let interface), .routed(let interface): interface
        case .unknown, .unreachable, .local: nil
        }
    }

    /// Whether an attempt is worthwhile under a preference. The status `unknown` counts as reachable.
    public func isReachable(_ preference: ReachabilityPreference = .any) -> Bool {
        switch self {
        case .unknown, .local: true
        case .unreachable: false
        case .direct(let interface), .routed(let interface): preference.allows(interface.kind)
        }
    }

    /// A description such as “routed via eth0 (ethernet)”.
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

/// The kinds of interfaces that the user accepts for transfers.
///
/// ```swift
/// let preference: ReachabilityPreference = settings.allowsMobileData ? .any : .withoutMobileData
/// if reachability.isReachable(preference) { startSync() }
/// ```
public struct ReachabilityPreference: Sendable, Hashable {
    /// The kinds of interfaces that count as unreachable.
    public var excludedKinds: Set<NetworkInterface.Kind>

    /// Creates a preference that excludes kinds of interfaces.
    public init(excluding kinds: Set<NetworkInterface.Kind>) { excludedKinds = kinds }

    /// Accepts every kind of interface.
    public static let any = ReachabilityPreference(excluding: [])
    /// Excludes mobile data.
    ///
    /// Some modems appear as ``NetworkInterface/Kind/pointToPoint``, like DSL lines and tunnels. Exclude that kind too
    /// if it can only be a modem.
    public static let withoutMobileData = ReachabilityPreference(excluding: [.wwan])

    /// Whether the preference accepts a kind of interface.
    public func allows(_ kind: NetworkInterface.Kind) -> Bool { !excludedKinds.contains(kind) }
}

/// Combines the statuses of a host's addresses.
enum StatusRules {
    /// The best status of several addresses, because a connection attempt tries them all.
    ///
    /// A route ranks above `unknown`, and `unknown` above `unreachable`. Among errors, the first one other than
    /// `noRoute` is used, because a missing address family causes `noRoute` for all addresses of that family.
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
