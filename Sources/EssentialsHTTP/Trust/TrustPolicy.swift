/// Whom a transport may talk to: anchors, pins, a TLS floor, and who the client is.
///
/// ```swift
/// let policy = try TrustPolicy(pins: [
///     .publicKey("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
///     .publicKey("sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
/// ])
/// ```
///
/// The pins hold for every host that the policy meets. A chain and a host name are always verified: nothing here accepts
/// an invalid certificate. A request over plain `http` under a policy with pins is refused.
public struct TrustPolicy: Sendable, Hashable {
    /// Which authorities count.
    public let anchors: TrustAnchors
    /// The pins of which a verified chain must hold at least one; empty for no pinning.
    public let pins: [Pin]
    /// The lowest TLS version.
    public let minimumTLS: TLSVersion
    /// Who the client is, for servers that ask.
    public let identity: ClientIdentity?
    /// Whether fewer than two pins were accepted.
    public let acceptsSinglePin: Bool

    /// The system's anchors, TLS 1.2, no pins.
    public static let system = TrustPolicy()

    /// Makes a policy with pins.
    ///
    /// - Parameters:
    ///   - pins: At least two different ones, so that a lost or renewed key does not lock every client out.
    ///   - acceptsSinglePin: Accept fewer than two.
    ///   - anchors: Which authorities count.
    ///   - minimumTLS: The lowest TLS version.
    ///   - identity: Who the client is.
    /// - Throws: `invalidPolicy` when there is no pin, or one and `acceptsSinglePin` is false.
    public init(
        pins: [Pin], acceptsSinglePin: Bool = false, anchors: TrustAnchors = .system, minimumTLS: TLSVersion = .tls12,
        identity: ClientIdentity? = nil
    ) throws(RequestFailure) {
        guard !pins.isEmpty else {
            throw RequestFailure(
                .invalidPolicy, "The list of pins is empty.",
                remedy: "Name the server's pin and a backup, or make the policy without pins.")
        }
        guard acceptsSinglePin || Set(pins).count >= 2 else {
            throw RequestFailure(
                .invalidPolicy, "The policy has a single pin: when that key is lost or renewed, no client gets in.",
                remedy: "Add a backup pin, or accept a single pin explicitly.")
        }
        self.init(
            anchors: anchors, minimumTLS: minimumTLS, identity: identity, pins: pins,
            acceptsSinglePin: acceptsSinglePin)
    }

    /// Makes a policy without pins.
    public init(
        anchors: TrustAnchors = .system, minimumTLS: TLSVersion = .tls12, identity: ClientIdentity? = nil
    ) {
        self.init(anchors: anchors, minimumTLS: minimumTLS, identity: identity, pins: [], acceptsSinglePin: false)
    }

    private init(
        anchors: TrustAnchors, minimumTLS: TLSVersion, identity: ClientIdentity?, pins: [Pin], acceptsSinglePin: Bool
    ) {
        self.anchors = anchors
        self.minimumTLS = minimumTLS
        self.identity = identity
        self.pins = pins
        self.acceptsSinglePin = acceptsSinglePin
    }
}
