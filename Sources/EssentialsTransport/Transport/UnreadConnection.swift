/// A connection's facts as an engine has them, made into ``ConnectionFacts`` when somebody asks.
///
/// Most answers are never asked, and four texts are many references to count for each.
package struct UnreadConnection: Sendable {
    /// The address's text, filled up with zeros.
    package typealias Address = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    /// What a connection with TLS has beside the rest.
    package typealias Security = (version: String, cipher: String)

    /// Ten times the HTTP version.
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

    /// The facts.
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
        return facts
    }
}
