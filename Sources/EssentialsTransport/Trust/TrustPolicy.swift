/// The servers that a transport trusts: anchors, pins by host, revocation, the minimum TLS version and the client's
/// identity.
///
/// ```swift
/// let policy = try TrustPolicy(pins: [
///     .publicKey("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
///     .publicKey("sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
/// ])
/// ```
///
/// The certificate chain and the host name are always verified. No setting accepts an invalid certificate. Plain `http`
/// to a host that has pins is refused.
public struct TrustPolicy: Sendable {
    /// What happens to hosts without a rule.
    public enum UnlistedHosts: Sendable, Hashable {
        /// Their chains are verified but not pinned.
        case anchorsOnly
        /// They are pinned to these pins.
        case pinned(PinSet)
        /// They are refused as `hostRefused` before anything is sent, also over plain `http`.
        case refused
    }

    /// The requirements for one host, in addition to a verified chain and host name.
    public enum Requirement: Sendable, Hashable {
        /// No further requirement.
        case anchorsOnly
        /// The chain has to match one of these pins.
        case pinned(PinSet)
        /// No request is sent to the host.
        case refused
    }

    /// Identifies a policy and its copies, so that comparing a policy with a copy costs only a pointer comparison.
    private final class Identity: Sendable {}

    /// The trusted certificate authorities.
    public let anchors: TrustAnchors
    /// The rules for hosts. Only the most specific rule for a host applies: the one with the longest name. Of rules
    /// with the same name, an exact rule precedes `*.`, which precedes `**.`.
    public let hosts: [HostRule]
    /// What happens to all other hosts.
    public let unlistedHosts: UnlistedHosts
    /// The minimum TLS version.
    public let minimumTLS: TLSVersion
    /// How revoked certificates are recognised.
    public let revocation: Revocation
    /// The client's certificate and key, for servers that request them.
    public let identity: ClientIdentity?
    private let ownIdentity = Identity()

    /// The system's anchors, TLS 1.2 or newer, without pins.
    public static let system = TrustPolicy()

    /// Creates a policy whose pins apply to every host, including the hosts of redirects.
    ///
    /// - Parameters:
    ///   - pins: At least two different pins, so that a lost or renewed key does not lock out every client.
    ///   - acceptsSinglePin: Whether a single pin is accepted. The default is `false`.
    ///   - anchors: The trusted certificate authorities.
    ///   - minimumTLS: The minimum TLS version. The default is TLS 1.2.
    ///   - revocation: How revoked certificates are recognised.
    ///   - identity: The client's certificate and key.
    /// - Throws: `invalidPolicy` if there is no pin, or only one and `acceptsSinglePin` is `false`.
    public init(
        pins: [Pin], acceptsSinglePin: Bool = false, anchors: TrustAnchors = .system, minimumTLS: TLSVersion = .tls12,
        revocation: Revocation = .none, identity: ClientIdentity? = nil
    ) throws(RequestFailure) {
        try self.init(
            hosts: [], unlistedHosts: .pinned(PinSet(pins, acceptsSinglePin: acceptsSinglePin)), anchors: anchors,
            minimumTLS: minimumTLS, revocation: revocation, identity: identity)
    }

    /// Creates a policy with rules for hosts.
    ///
    /// ```swift
    /// let policy = try TrustPolicy(
    ///     hosts: [HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)]))],
    ///     unlistedHosts: .refused)
    /// ```
    ///
    /// - Throws: `invalidPolicy` if two rules have the same pattern, or if a revocation list is not a list.
    public init(
        hosts: [HostRule], unlistedHosts: UnlistedHosts = .anchorsOnly, anchors: TrustAnchors = .system,
        minimumTLS: TLSVersion = .tls12, revocation: Revocation = .none, identity: ClientIdentity? = nil
    ) throws(RequestFailure) {
        var patterns: Set<HostPattern> = []
        for rule in hosts where !patterns.insert(rule.pattern).inserted {
            throw RequestFailure(
                .invalidPolicy, "There are two rules for “\(rule.pattern)”.",
                remedy: "Combine the pins of both in one rule, or remove one rule.")
        }
        if case .lists(let lists) = revocation {
            guard !lists.isEmpty, lists.allSatisfy({ $0.labels.allSatisfy { $0.hasSuffix("CRL") } }) else {
                throw RequestFailure(
                    .invalidPolicy, "There are no revocation lists, or one of the files is not a revocation list.",
                    remedy: "Provide files with “BEGIN X509 CRL”, one for each authority of the chains.")
            }
        }
        self.init(
            anchors: anchors, minimumTLS: minimumTLS, revocation: revocation, identity: identity, rules: hosts,
            unlistedHosts: unlistedHosts)
    }

    /// Creates a policy without pins.
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
        self.anchors = anchors
        hosts = rules
        self.unlistedHosts = unlistedHosts
        self.minimumTLS = minimumTLS
        self.revocation = revocation
        self.identity = identity
    }

    /// The policy without the client's identity; itself if it has none.
    package var anonymous: TrustPolicy {
        identity == nil
            ? self
            : TrustPolicy(
                anchors: anchors, minimumTLS: minimumTLS, revocation: revocation, identity: nil, rules: hosts,
                unlistedHosts: unlistedHosts)
    }

    /// The rule for a host; `nil` if no rule matches. The cost is linear in the number of rules.
    public func rule(for host: HostName) -> HostRule? {
        hosts.filter { $0.pattern.matches(host) }.max { $1.pattern.isMoreSpecific(than: $0.pattern) }
    }

    /// The requirements for a host, in addition to a verified chain and host name. The cost is linear in the number of
    /// rules.
    public func requirement(for host: HostName) -> Requirement {
        if let rule = rule(for: host) { return rule.pins.map { .pinned($0) } ?? .anchorsOnly }
        switch unlistedHosts {
        case .anchorsOnly: return .anchorsOnly
        case .pinned(let pins): return .pinned(pins)
        case .refused: return .refused
        }
    }
}

extension TrustPolicy: Hashable {
    /// Whether both policies have the same content. A copy is recognised without comparing the rules.
    public static func == (one: TrustPolicy, other: TrustPolicy) -> Bool {
        one.isCopy(of: other)
            || one.anchors == other.anchors && one.hosts == other.hosts && one.unlistedHosts == other.unlistedHosts
                && one.minimumTLS == other.minimumTLS && one.revocation == other.revocation
                && one.identity == other.identity
    }

    /// Hashes the whole content. The cost is linear in the size of the policy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(anchors)
        hasher.combine(hosts)
        hasher.combine(unlistedHosts)
        hasher.combine(minimumTLS)
        hasher.combine(revocation)
        hasher.combine(identity)
    }

    /// Whether one policy is a copy of the other.
    package func isCopy(of other: TrustPolicy) -> Bool { ownIdentity === other.ownIdentity }
}

extension TrustPolicy: CustomReflectable {
    /// The properties for debuggers and `dump`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "anchors": anchors, "hosts": hosts, "unlistedHosts": unlistedHosts, "minimumTLS": minimumTLS,
                "revocation": revocation, "identity": identity as Any,
            ])
    }
}

/// How a trust policy checks whether a certificate was revoked.
///
/// Nothing is fetched: the evidence comes from the server or from the program. Both methods are cheap, and neither
/// discloses to a third party which servers the program connects to.
public enum Revocation: Sendable, Hashable {
    /// Revocation is not checked.
    case none
    /// Uses the OCSP response that the server staples to its handshake (RFC 6066, section 8; RFC 6960). The
    /// connection is refused if the response reports a revocation, has expired, or is not signed by the issuer, and, with
    /// `isRequired`, if there is none.
    case stapled(isRequired: Bool)
    /// Uses these certificate revocation lists in PEM form (RFC 5280, section 5). The chain is refused unless there is
    /// an unexpired list of every authority in it. It is also refused if it ends at an anchor that another authority
    /// signed, or if a self-signed server has no list signed by itself. Delta lists, lists for some reasons only, and
    /// lists about certificates of other issuers are refused with `invalidPolicy` when the policy is compiled.
    case lists([PEM])
}

/// The TLS versions that a policy can require.
public enum TLSVersion: Sendable, Hashable, Comparable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
}
