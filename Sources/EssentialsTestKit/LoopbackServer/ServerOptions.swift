/// Options of a loopback server: its address, its limits, and hooks that run before a request is complete.
public struct ServerOptions: Sendable {
    /// A loopback address, which other machines cannot reach.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// The address on which the server listens.
    public var address: Address
    /// The maximum size of a request's header section in bytes; larger ones get status 431.
    public var headMaximum: Int
    /// The maximum size of a request's body in bytes; larger ones get status 413.
    public var bodyMaximum: Int
    /// The maximum number of requests kept in `LoopbackServer.requests`; later requests are only counted.
    public var recordedRequestMaximum: Int
    /// The maximum number of body bytes kept in `LoopbackServer.requests`; requests beyond it are only counted.
    public var recordedByteMaximum: Int
    /// Called with the index of each accepted connection, before TLS and before the first read. The steps run on the
    /// bare TCP connection. Afterwards the connection closes, unless there are no steps or the last one is `keepAlive`.
    public var onAccept: (@Sendable (Int) -> [ServerStep])?
    /// Called with the index of each established connection, after TLS and before the first read, for protocols other
    /// than HTTP/1.1. Afterwards the connection closes, unless there are no steps or the last one is `keepAlive`.
    public var onConnect: (@Sendable (Int) -> [ServerStep])?
    /// Called when a header section has arrived, before "100 Continue" is sent and before the body is read. A reply
    /// returned here is the last one of its connection, and the request is not recorded; with `nil` the request is read
    /// as usual. A client that is still sending has one second to notice the reply.
    public var onHead: (@Sendable (ServerRequest) -> ServerReply?)?

    /// Creates options. The closures are called on the connections' threads.
    public init(
        address: Address = .ipv4, headMaximum: Int = 256 * 1024, bodyMaximum: Int = 256 * 1024 * 1024,
        recordedRequestMaximum: Int = 100_000, recordedByteMaximum: Int = 512 * 1024 * 1024,
        onAccept: (@Sendable (Int) -> [ServerStep])? = nil, onConnect: (@Sendable (Int) -> [ServerStep])? = nil,
        onHead: (@Sendable (ServerRequest) -> ServerReply?)? = nil
    ) {
        self.address = address
        self.headMaximum = headMaximum
        self.bodyMaximum = bodyMaximum
        self.recordedRequestMaximum = recordedRequestMaximum
        self.recordedByteMaximum = recordedByteMaximum
        self.onAccept = onAccept
        self.onConnect = onConnect
        self.onHead = onHead
    }
}
