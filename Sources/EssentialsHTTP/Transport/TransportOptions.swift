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

    /// The longest time for name resolution, connection and TLS handshake together. 10 seconds. Zero or less: none.
    public var connectTimeout: Duration = .seconds(10)
    /// The longest time in which no byte moves in either direction. 60 seconds; nil for none.
    public var idleTimeout: Duration? = .seconds(60)
    /// The longest time for the whole exchange. None.
    public var totalTimeout: Duration?
    /// How the body is delivered. Collected, at most 64 MiB.
    public var delivery: Delivery = .collected(upTo: 64 << 20)
    /// The most bytes of all header lines, informational responses and trailers included. 256 KiB.
    public var maximumHeadSize: Int = 256 << 10
    /// Which HTTP version to speak.
    public var protocolVersion: ProtocolVersion = .automatic
    /// Whether gzip, deflate and br are asked for and undone. The header fields stay as they came.
    public var decompresses: Bool = true

    /// The defaults named beside each property.
    public init() {}
}
