/// Deadlines, limits and protocol of one request.
///
/// ```swift
/// var options = TransportOptions()
/// options.totalTimeout = .seconds(5)
/// ```
public struct TransportOptions: Sendable, Hashable {
    /// Which HTTP version to speak.
    public enum ProtocolVersion: Sendable, Hashable {
        /// HTTP/2 where the server offers it over TLS, else HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 or a failure; without TLS by prior knowledge (RFC 9113, 3.3).
        case http2
    }

    /// How the response's body is delivered.
    public enum Delivery: Sendable, Hashable {
        /// All at once, when all of it has come. At most this many bytes after decompression; more is `tooLarge`.
        case collected(upTo: Int)
        /// Piece by piece, at the reader's pace.
        case streamed
    }

    /// A speed below which a transfer is given up.
    public struct MinimumRate: Sendable, Hashable {
        /// Bytes a second, in both directions together.
        public var bytesPerSecond: Int
        /// How long it may be slower. Whole seconds.
        public var period: Duration

        /// Makes a minimum.
        public init(bytesPerSecond: Int, over period: Duration) {
            self.bytesPerSecond = bytesPerSecond
            self.period = period
        }
    }

    /// By what the servers are judged; nil leaves it to the transport. One that has another policy refuses the request
    /// as `otherTrust`: ways for several policies are what `CurlTransports` is for.
    public var trust: TrustPolicy?
    /// The longest time for name resolution, connection and TLS handshake together. 10 seconds. Zero or less: none.
    public var connectTimeout: Duration = .seconds(10)
    /// The longest time in which nothing moves in either direction: no byte of a body, no whole header line. 60 seconds;
    /// nil for none.
    public var idleTimeout: Duration? = .seconds(60)
    /// The longest silence between the request's last byte and the answer's first. None beside ``idleTimeout``.
    public var firstByteTimeout: Duration?
    /// The longest time for the whole exchange, waiting in the transport's queue included. None.
    public var totalTimeout: Duration?
    /// Which requests leave the transport's queue before this one. Normal.
    public var priority = RequestPriority.normal
    /// The longest time to wait in the transport's queue for a connection. 60 seconds; nil for none.
    public var queueTimeout: Duration? = .seconds(60)
    /// The slowest transfer that is not given up as `timeout`. None.
    public var minimumRate: MinimumRate?
    /// How long a body waits for the server's `100 Continue` before it is sent anyway (RFC 9110, 10.1.1); nil sends it
    /// at once, and asks for nothing. None.
    public var continueWait: Duration?
    /// How the body is delivered. Collected, at most 64 MiB.
    public var delivery: Delivery = .collected(upTo: 64 << 20)
    /// The most bytes of all header lines, informational responses and trailers included. 256 KiB.
    public var maximumHeadSize: Int = 256 << 10
    /// Which HTTP version to speak.
    public var protocolVersion: ProtocolVersion = .automatic
    /// Whether gzip, deflate and br are asked for and undone. The header fields stay as they came.
    public var decompresses: Bool = true
    /// How many times its size a compressed body of more than 16 MiB may unpack to; more is `tooLarge`. 100; nil for any.
    public var maximumExpansion: Int? = 100
    /// A streamed body that is dropped unread is read to its end if no more than this is left, so that its connection
    /// can be used again; else the connection is closed. 64 KiB, for at most one second.
    public var drainLimit: Int = 64 << 10

    /// The defaults named beside each property.
    public init() {}
}
