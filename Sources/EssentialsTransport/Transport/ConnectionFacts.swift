/// The connection that carried an exchange.
public struct ConnectionFacts: Sendable, Hashable {
    /// The HTTP version: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`; empty if unknown.
    public var protocolName: String = ""
    /// The peer's IP address; empty if unknown.
    public var peerAddress: String = ""
    /// The peer's port.
    public var peerPort: UInt16 = 0
    /// Whether the connection served an earlier request.
    public var isReused: Bool = false
    /// `TLSv1.2` or `TLSv1.3`; `nil` without TLS.
    public var tlsVersion: String?
    /// OpenSSL's name of the cipher; `nil` without TLS.
    public var tlsCipher: String?
    /// The verified chain and the pin that matched; `nil` without TLS, and for requests without
    /// ``TransportOptions/recordsTrust``.
    public var trust: TrustFacts?

    /// Creates facts about an unknown connection.
    public init() {}
}

/// The connection facts in the engine's format, which are converted to ``ConnectionFacts`` on demand.
///
/// Few programs read them, and four strings would need four references for each response.
package struct UnreadConnection: Sendable {
    /// The text of the address, padded with zeros.
    package typealias Address = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    /// The additional facts of a connection with TLS.
    package typealias Security = (version: String, cipher: String, trust: TrustFacts?)

    /// The HTTP version multiplied by ten.
    private let version: Int32
    private let isReused: Bool
    private let port: UInt16
    private let address: Address
    private let security: Security?

    package init(version: Int32, isReused: Bool, port: UInt16, address: Address, security: Security?) {
        self.version = version
        self.isReused = isReused
        self.port = port
        self.address = address
        self.security = security
    }

    /// Creates the facts.
    func read() -> ConnectionFacts {
        var facts = ConnectionFacts()
        facts.protocolName =
            switch version {
            case 20: "HTTP/2"
            case 10: "HTTP/1.0"
            default: "HTTP/1.1"
            }
        facts.peerAddress = withUnsafeBytes(of: address) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        facts.peerPort = port
        facts.isReused = isReused
        facts.tlsVersion = security?.version
        facts.tlsCipher = security?.cipher
        facts.trust = security?.trust
        return facts
    }
}
