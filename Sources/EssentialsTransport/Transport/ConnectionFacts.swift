/// The connection that carried an exchange.
public struct ConnectionFacts: Sendable, Hashable {
    /// The HTTP version spoken: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`; empty when unknown.
    public var protocolName: String = ""
    /// The peer's IP address; empty when unknown.
    public var peerAddress: String = ""
    /// The peer's port.
    public var peerPort: UInt16 = 0
    /// Whether it had served a request before.
    public var isReused: Bool = false
    /// `TLSv1.2`, `TLSv1.3`, or nil without TLS.
    public var tlsVersion: String?
    /// OpenSSL's name of the cipher, or nil without TLS.
    public var tlsCipher: String?

    /// Nothing known.
    public init() {}
}
