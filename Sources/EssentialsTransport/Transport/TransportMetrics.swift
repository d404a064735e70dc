/// When things happened, counted from the moment the transport began on the request after ``queued``, and how many bytes
/// moved.
///
/// A nil time did not happen: a reused connection resolves no name, plain HTTP has no handshake.
public struct TransportMetrics: Sendable, Hashable {
    /// How long the request waited for its turn before that.
    public var queued: Duration = .zero
    /// When the host's address was known.
    public var nameResolved: Duration?
    /// When the connection stood.
    public var connected: Duration?
    /// When the TLS handshake was done.
    public var secured: Duration?
    /// When the request's first byte could be sent.
    public var requestBegan: Duration?
    /// When the request's last byte was handed to the connection; nil where that is not known, as for small bodies in
    /// memory, which go out with the first byte.
    public var requestSent: Duration?
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
