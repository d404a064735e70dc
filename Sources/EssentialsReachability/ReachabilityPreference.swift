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
