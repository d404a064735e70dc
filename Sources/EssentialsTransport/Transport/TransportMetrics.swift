/// Times of an exchange, measured from when the transport started the request after ``queued``, and byte counts.
///
/// A time is `nil` if its event did not happen: a reused connection resolves no name, and plain HTTP has no handshake.
public struct TransportMetrics: Sendable, Hashable {
    /// The time for which the request waited in the queue.
    public var queued: Duration = .zero
    /// When the host's address was known.
    public var nameResolved: Duration?
    /// When the connection was established.
    public var connected: Duration?
    /// When the TLS handshake was complete.
    public var secured: Duration?
    /// When the first byte of the request could be sent.
    public var requestBegan: Duration?
    /// When the last byte of the request was passed to the connection. `nil` if unknown, as for small bodies in memory,
    /// which are sent together with the head.
    public var requestSent: Duration?
    /// When the first byte of the response arrived.
    public var firstByte: Duration?
    /// When the exchange ended.
    public var finished: Duration?
    /// The number of sent bytes of the request's body.
    public var bodyBytesSent: Int = 0
    /// The number of received bytes of the response's body, before decompression.
    public var bodyBytesReceived: Int = 0
    /// The number of attempts. It is 2 if a reused connection turned out to be closed before a response arrived.
    public var sendings: Int = 0

    /// Creates metrics without measurements.
    public init() {}
}
