/// What else can be said about a loopback server: where it listens, its maxima, and how it meets a client before there
/// is a complete request.
public struct ServerOptions: Sendable {
    /// The address to listen on; never one that other machines reach.
    public enum Address: Sendable, Hashable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// The address to listen on.
    public var address: Address
    /// The most bytes of a request's header section; more is answered with 431.
    public var headMaximum: Int
    /// The most bytes of a request's body; more is answered with 413.
    public var bodyMaximum: Int
    /// The most requests that are kept in `LoopbackServer.requests`; later ones are only counted.
    public var recordedRequestMaximum: Int
    /// The most body bytes that are kept in `LoopbackServer.requests`; requests beyond are only counted.
    public var recordedByteMaximum: Int
    /// Called with the index of each accepted connection, before TLS and before anything is read. The steps run on the
    /// bare TCP connection; afterwards it closes, unless there are none or the last one is `keepAlive`.
    public var onAccept: (@Sendable (Int) -> [ServerStep])?
    /// Called with the index of each connection when it stands, after TLS and before anything is read: for protocols that
    /// are not HTTP/1.1. Afterwards the connection closes, unless there are no steps or the last one is `keepAlive`.
    public var onConnect: (@Sendable (Int) -> [ServerStep])?
    /// Called when a header section has arrived, before "100 Continue" and before the body is read. A reply given here
    /// is the last one of its connection, and the request is not recorded; nil goes on as usual. A client with more to
    /// send gets a second to notice the reply.
    public var onHead: (@Sendable (ServerRequest) -> ServerReply?)?

    /// Makes options; the closures are called on the connections' threads.
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
