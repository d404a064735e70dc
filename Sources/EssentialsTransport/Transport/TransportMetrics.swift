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
    /// How many times the transport has begun to send this request on a connection; 0 if it was never sent, or if the
    /// transport does not count.
    ///
    /// It is 1 for most requests. It is more if the transport has sent the request again by itself, because a reused
    /// connection turned out to be closed before a response arrived, or because the server did not process the request:
    /// it refused the HTTP/2 stream, demanded HTTP/1.1, or refused to send `100 Continue`. Connections that failed before
    /// the request was sent do not count.
    ///
    /// A service that follows a redirect, responds to a challenge or retries passes a new request to the transport, which
    /// has metrics of its own. The metrics of its response are those of the last of these requests.
    public var sendings: Int = 0

    /// Creates metrics without measurements.
    public init() {}
}
