/// When things happened, counted from the moment the transport began, and how many bytes moved.
///
/// A nil time did not happen: a reused connection resolves no name, plain HTTP has no handshake.
public struct TransportMetrics: Sendable, Hashable {
    /// When the host's address was known.
    public var nameResolved: Duration?
    /// When the connection stood.
    public var connected: Duration?
    /// When the TLS handshake was done.
    public var secured: Duration?
    /// When the request's first byte could be sent.
    public var requestBegan: Duration?
    /// When the answer's first byte came.
    public var firstByte: Duration?
    /// When the exchange was over.
    public var finished: Duration?
    /// Bytes of the request's body that were sent.
    public var bodyBytesSent: Int = 0
    /// Bytes of the response's body that came, before decompression.
    public var bodyBytesReceived: Int = 0
    /// How often the request was sent; 2 when a reused connection turned out dead before it was answered.
    public var sendings: Int = 0

    /// Nothing measured.
    public init() {}
}
