/// Deadlines, limits and protocol of one request.
///
/// ```swift
/// var options = TransportOptions()
/// options.totalTimeout = .seconds(5)
/// ```
public struct TransportOptions: Sendable, Hashable {
    /// The HTTP version of a request.
    public enum ProtocolVersion: Sendable, Hashable {
        /// HTTP/2 if the server offers it over TLS, otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// Only HTTP/2. A server that does not offer it over TLS is refused before the request is sent.
        ///
        /// Over plain `http` it is spoken by prior knowledge (RFC 9113, 3.3), without a question whether the server can: the
        /// request to one that cannot fails. Such a request to a proxy that does not tunnel fails as `invalidRequest`.
        case http2
    }

    /// How the response's body is delivered.
    public enum Delivery: Sendable, Hashable {
        /// As a whole, after all of it has arrived. A body of more than this many bytes after decompression fails as
        /// `tooLarge`.
        case collected(upTo: Int)
        /// Piece by piece, at the reader's pace.
        case streamed
    }

    /// The minimum speed of a transfer.
    public struct MinimumRate: Sendable, Hashable {
        /// The bytes per second, in both directions together.
        public var bytesPerSecond: Int
        /// The time for which a transfer may be slower, in whole seconds.
        public var period: Duration

        /// Creates a minimum.
        public init(bytesPerSecond: Int, over period: Duration) {
            self.bytesPerSecond = bytesPerSecond
            self.period = period
        }
    }

    /// The policy that verifies the servers. The default is `nil`, which means the policy of the transport. A transport
    /// with a different policy refuses the request as `otherTrust`; `CurlTransports` has a transport for each policy.
    public var trust: TrustPolicy?
    /// The maximum time for name resolution, connection and TLS handshake together. The default is 10 seconds. Zero or
    /// less means no limit.
    public var connectTimeout = Duration.seconds(10)
    /// The maximum time without progress in either direction, which means no byte of a body and no complete header
    /// line. The default is 60 seconds; `nil` means no limit.
    public var idleTimeout: Duration? = .seconds(60)
    /// The maximum time between the last byte of the request and the first byte of the response. The default is `nil`,
    /// which means that only ``idleTimeout`` applies.
    public var firstByteTimeout: Duration?
    /// The maximum time for the whole exchange, including the wait in the transport's queue. The default is `nil`,
    /// which means no limit.
    public var totalTimeout: Duration?
    /// The priority in the transport's queue. The default is `normal`.
    public var priority = RequestPriority.normal
    /// The maximum wait in the transport's queue for a connection. The default is 60 seconds; `nil` means no limit.
    public var queueTimeout: Duration? = .seconds(60)
    /// The minimum speed. A slower transfer fails as `timeout`. The default is `nil`, which means any speed.
    public var minimumRate: MinimumRate?
    /// The maximum wait for the server's `100 Continue` before the body is sent anyway (RFC 9110, 10.1.1). The default
    /// is `nil`, which means that the body is sent at once, without `Expect`.
    public var continueWait: Duration?
    /// How the response's body is delivered. The default is as a whole, with at most 64 MiB.
    public var delivery = Delivery.collected(upTo: 64 << 20)
    /// The maximum number of bytes of all header lines, including informational responses and trailers. The default is
    /// 256 KiB.
    public var maximumHeadSize = 256 << 10
    /// The maximum number of lines in all heads of one exchange: status lines, fields, informational responses and
    /// trailers. The default is 1,000. More lines fail as `tooLarge`. A limit below 1 or above ``headLinesMaximum``
    /// fails as `invalidRequest`.
    public var maximumHeadLines = 1_000
    /// The HTTP version. The default is `automatic`.
    public var protocolVersion = ProtocolVersion.automatic
    /// Whether gzip, deflate, br and zstd are requested and decoded, if libcurl was built with them. The header fields
    /// stay as the server sent them. If `Content-Encoding` has any other name, such as `utf-8` or `aws-chunked`,
    /// nothing is decoded, and the body is delivered as the server sent it. The default is `true`.
    public var decompresses = true
    /// The maximum ratio of the decompressed to the compressed size of a body. A body with a higher ratio fails as
    /// `tooLarge` if it has more than 16 MiB after decompression. The default is 100; `nil` means no limit.
    public var maximumExpansion: Int? = 100
    /// The maximum number of bytes to read from a streamed body that was dropped unread, so that its connection can be
    /// reused. If more bytes are left, or if they take more than one second, the connection is closed. The default is
    /// 64 KiB.
    public var drainLimit = 64 << 10
    /// Whether the verified chain and the matched pin are recorded in ``ConnectionFacts/trust``. The default is
    /// `false`, because recording the names of the certificates takes longer than the rest of the chain's verification.
    public var recordsTrust = false

    /// Creates options with the default of each property.
    public init() {}

    /// The largest value of ``maximumHeadLines``: 10,000, far below what an `HTTPFields` can hold.
    public static var headLinesMaximum: Int { 10_000 }

    /// The time limits in milliseconds.
    package var times: TimeLimits { TimeLimits(self) }
}
