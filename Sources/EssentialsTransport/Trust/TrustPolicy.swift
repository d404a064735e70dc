/// Whom a transport may talk to: anchors, pins by host, revocation, a TLS floor, and who the client is.
///
/// ```swift
/// let policy = try TrustPolicy(pins: [
///     .publicKey("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
///     .publicKey("sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
/// ])
/// ```
///
/// A chain and a host name are always verified: nothing here accepts an invalid certificate. Plain `http` to a host that
/// has pins is refused.
public struct TrustPolicy: Sendable, Hashable {
    /// What becomes of hosts that no rule is for.
    public enum UnlistedHosts: Sendable, Hashable {
        /// Their chains are verified, and not pinned.
        case anchorsOnly
        /// They are pinned too.
        case pinned(PinSet)
        /// They are refused, as `hostRefused`, before anything is sent; plain `http` too.
        case refused
    }

    /// What the policy asks of one host beyond a verified chain and host name.
    public enum Requirement: Sendable, Hashable {
        /// Nothing more.
        case anchorsOnly
        /// One of these pins.
        case pinned(PinSet)
        /// It may not be reached.
        case refused
    }

    private struct Content: Hashable {
        let anchors: TrustAnchors
        let hosts: [HostRule]
        let unlistedHosts: UnlistedHosts
        let minimumTLS: TLSVersion
        let revocation: Revocation
        let identity: ClientIdentity?
    }

    private let content: CopyOnWrite<Content>

    /// Which authorities count.
    public var anchors: TrustAnchors { content.value.anchors }
    /// The rules for some hosts. The most specific one for a host counts, and no other: the one whose host is longest; of
    /// two with the same host, an exact one before `*.` and that before `**.`.
    public var hosts: [HostRule] { content.value.hosts }
    /// What becomes of all others.
    public var unlistedHosts: UnlistedHosts { content.value.unlistedHosts }
    /// The lowest TLS version.
    public var minimumTLS: TLSVersion { content.value.minimumTLS }
    /// How it is learned that a certificate was revoked.
    public var revocation: Revocation { content.value.revocation }
    /// Who the client is, for servers that ask.
    public var identity: ClientIdentity? { content.value.identity }

    /// The system's anchors, TLS 1.2, no pins.
    public static let system = TrustPolicy()

    /// Makes a policy whose pins hold for every host that it meets, those of redirects included.
    ///
    /// - Parameters:
    ///   - pins: At least two different ones, so that a lost or renewed key does not lock every client out.
    ///   - acceptsSinglePin: Accept fewer than two.
    ///   - anchors: Which authorities count.
    ///   - minimumTLS: The lowest TLS version.
    ///   - revocation: How it is learned that a certificate was revoked.
    ///   - identity: Who the client is.
    /// - Throws: `invalidPolicy` when there is no pin, or one and `acceptsSinglePin` is false.
    public init(
        pins: [Pin], acceptsSinglePin: Bool = false, anchors: TrustAnchors = .system, minimumTLS: TLSVersion = .tls12,
        revocation: Revocation = .none, identity: ClientIdentity? = nil
    ) throws(RequestFailure) {
        try self.init(
            hosts: [], unlistedHosts: .pinned(PinSet(pins, acceptsSinglePin: acceptsSinglePin)), anchors: anchors,
            minimumTLS: minimumTLS, revocation: revocation, identity: identity)
    }

    /// Makes a policy with rules for hosts.
    ///
    /// ```swift
    /// let policy = try TrustPolicy(
    ///     hosts: [HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)]))],
    ///     unlistedHosts: .refused)
    /// ```
    ///
    /// - Throws: `invalidPolicy` when two rules have the same pattern, or a revocation list holds something else.
    public init(
        hosts: [HostRule], unlistedHosts: UnlistedHosts = .anchorsOnly, anchors: TrustAnchors = .system,
        minimumTLS: TLSVersion = .tls12, revocation: Revocation = .none, identity: ClientIdentity? = nil
    ) throws(RequestFailure) {
        var patterns: Set<HostPattern> = []
        for rule in hosts where !patterns.insert(rule.pattern).inserted {
            throw RequestFailure(
                .invalidPolicy, "There are two rules for “\(rule.pattern)”.",
                remedy: "Put the pins of both into one rule, or remove one.")
        }
        if case .lists(let lists) = revocation {
            guard !lists.isEmpty, lists.allSatisfy({ $0.labels.allSatisfy { $0.hasSuffix("CRL") } }) else {
                throw RequestFailure(
                    .invalidPolicy, "The revocation lists are empty, or hold something else.",
                    remedy: "Give files with “BEGIN X509 CRL”, one for each authority of the chains.")
            }
        }
        self.init(
            anchors: anchors, minimumTLS: minimumTLS, revocation: revocation, identity: identity, rules: hosts,
            unlistedHosts: unlistedHosts)
    }

    /// Makes a policy without pins.
    public init(
        anchors: TrustAnchors = .system, minimumTLS: TLSVersion = .tls12, identity: ClientIdentity? = nil
    ) {
        self.init(
            anchors: anchors, minimumTLS: minimumTLS, revocation: .none, identity: identity, rules: [],
            unlistedHosts: .anchorsOnly)
    }

    private init(
        anchors: TrustAnchors, minimumTLS: TLSVersion, revocation: Revocation, identity: ClientIdentity?,
        rules: [HostRule], unlistedHosts: UnlistedHosts
    ) {
        content = CopyOnWrite(
            Content(
                anchors: anchors, hosts: rules, unlistedHosts: unlistedHosts, minimumTLS: minimumTLS,
                revocation: revocation, identity: identity))
    }

    /// The rule for a host; nil when it is unlisted. Looks through all rules.
    public func rule(for host: HostName) -> HostRule? {
        hosts.filter { $0.pattern.matches(host) }.max { $1.pattern.isMoreSpecific(than: $0.pattern) }
    }

    /// What is asked of a host beyond a verified chain and host name. Looks through all rules.
    public func requirement(for host: HostName) -> Requirement {
        if let rule = rule(for: host) { return rule.pins.map { .pinned($0) } ?? .anchorsOnly }
        switch unlistedHosts {
        case .anchorsOnly: return .anchorsOnly
        case .pinned(let pins): return .pinned(pins)
        case .refused: return .refused
        }
    }
}

extension TrustPolicy: CustomReflectable {
    /// The properties above, for debuggers and `dump`.
    public var customMirror: Mirror { content.mirror(of: self) }
}
