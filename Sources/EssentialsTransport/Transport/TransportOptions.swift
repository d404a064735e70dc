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

    /// The policy by which the servers are judged; `nil` leaves it to the transport. A transport that has another policy
    /// refuses the request as `otherTrust`; `CurlTransports` has a transport for each policy.
    public var trust: TrustPolicy?
    /// The longest time for name resolution, connection and TLS handshake together. The default is 10 seconds. Zero or
    /// less means no limit.
    public var connectTimeout = Duration.seconds(10)
    /// The longest time in which nothing moves in either direction: no byte of a body, no whole header line. The default
    /// is 60 seconds; `nil` means no limit.
    public var idleTimeout: Duration? = .seconds(60)
    /// The longest silence between the request's last byte and the response's first. The default is `nil`: only
    /// ``idleTimeout`` limits it.
    public var firstByteTimeout: Duration?
    /// The longest time for the whole exchange, including the wait in the transport's queue. The default is `nil`, which
    /// means no limit.
    public var totalTimeout: Duration?
    /// Which requests leave the transport's queue before this one. The default is `normal`.
    public var priority = RequestPriority.normal
    /// The longest wait in the transport's queue for a connection. The default is 60 seconds; `nil` means no limit.
    public var queueTimeout: Duration? = .seconds(60)
    /// The slowest transfer that does not fail as `timeout`. The default is `nil`, which means any speed.
    public var minimumRate: MinimumRate?
    /// How long a body waits for the server's `100 Continue` before it is sent anyway (RFC 9110, 10.1.1). The default is
    /// `nil`: the body is sent at once, without `Expect`.
    public var continueWait: Duration?
    /// How the body is delivered. The default is collected, at most 64 MiB.
    public var delivery = Delivery.collected(upTo: 64 << 20)
    /// The most bytes of all header lines, including informational responses and trailers. The default is 256 KiB.
    public var maximumHeadSize = 256 << 10
    /// The most lines of all heads of one exchange: status lines, fields, informational responses and trailers. The
    /// default is 1,000; a request that asks for fewer than 1 or more than ``headLinesMaximum`` fails as `invalidRequest`.
    /// More lines than the limit fail as `tooLarge`.
    public var maximumHeadLines = 1_000
    /// Which HTTP version to speak. The default is `automatic`.
    public var protocolVersion = ProtocolVersion.automatic
    /// Whether gzip, deflate, br and zstd are requested and decoded, if libcurl was built with them. The header fields
    /// stay as the server sent them. The default is `true`.
    public var decompresses = true
    /// How many times its size a compressed body of more than 16 MiB may unpack to; more fails as `tooLarge`. The default
    /// is 100; `nil` means no limit.
    public var maximumExpansion: Int? = 100
    /// A streamed body that is dropped unread is read to its end if at most this many bytes are left, for at most one
    /// second, so that its connection can be used again; otherwise the connection is closed. The default is 64 KiB.
    public var drainLimit = 64 << 10

    /// Creates options with the default of each property.
    public init() {}

    /// The largest value of ``maximumHeadLines``: 10,000, far below what an `HTTPFields` can hold.
    public static var headLinesMaximum: Int { 10_000 }

    /// The time limits in milliseconds.
    package var times: TimeLimits { TimeLimits(self) }
}
