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

    /// Creates facts about an unknown connection.
    public init() {}
}
