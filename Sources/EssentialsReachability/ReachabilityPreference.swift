/// Over which kinds of interfaces a user is willing to send.
///
/// ```swift
/// let preference: ReachabilityPreference = settings.allowsMobileData ? .any : .withoutMobileData
/// if reachability.isReachable(preference) { startSync() }
/// ```
public struct ReachabilityPreference: Sendable, Hashable {
    /// The kinds that count as not reachable.
    public var excludedKinds: Set<NetworkInterface.Kind>

    /// Makes one from the kinds that are not wanted.
    public init(excluding kinds: Set<NetworkInterface.Kind>) { excludedKinds = kinds }

    /// Every kind will do.
    public static let any = ReachabilityPreference(excluding: [])
    /// No mobile data.
    ///
    /// Some modems show up as ``NetworkInterface/Kind/pointToPoint``, as DSL lines and tunnels do; exclude that kind,
    /// too, where it can only be a modem.
    public static let withoutMobileData = ReachabilityPreference(excluding: [.wwan])

    /// Whether a kind is wanted.
    public func allows(_ kind: NetworkInterface.Kind) -> Bool { !excludedKinds.contains(kind) }
}
