/// The load of a transport at one moment.
///
/// ```swift
/// let load = await transport.load
/// logger.info("http", metadata: ["waiting": "\(load.waiting)", "longest": "\(load.longestWait)"])
/// for origin in load.origins { print(origin.origin, origin.active, origin.idle) }
/// ```
public struct TransportLoad: Sendable, Hashable {
    /// The number of requests that have a connection, are opening one, or pause before they are sent again. Over HTTP/2 there can
    /// be more of them than connections.
    public var inFlight: Int
    /// The number of requests that wait for their turn.
    public var waiting: Int
    /// How long the oldest of the waiting requests has waited.
    public var longestWait: Duration
    /// The number of connections that have carried a request, since the transport was created. It is 0 after a shutdown, and a
    /// transport for several policies forgets those of a policy that it drops.
    public var opened: Int
    /// The number of these connections that were closed.
    public var closed: Int
    /// The connections and the waiting requests of each origin that has any, in the order of their texts.
    public var origins: [OriginLoad]

    /// Creates a load. The default is that of a transport without requests.
    public init(
        inFlight: Int = 0, waiting: Int = 0, longestWait: Duration = .zero, opened: Int = 0, closed: Int = 0,
        origins: [OriginLoad] = []
    ) {
        (self.inFlight, self.waiting, self.longestWait) = (inFlight, waiting, longestWait)
        (self.opened, self.closed, self.origins) = (opened, closed, origins)
    }

    /// Adds the load of another part of the transport.
    package mutating func add(_ other: TransportLoad) {
        inFlight += other.inFlight
        waiting += other.waiting
        longestWait = max(longestWait, other.longestWait)
        opened += other.opened
        closed += other.closed
        guard !other.origins.isEmpty else { return }
        origins = Dictionary((origins + other.origins).map { ($0.origin, $0) }) { $0.added($1) }
            .values.sorted { $0.origin.description < $1.origin.description }
    }
}

/// The connections to one origin, and the requests that wait for one.
///
/// A connection counts from its first request on, and for the origin of that request. Behind a proxy without a tunnel, it can
/// carry requests for other origins too.
public struct OriginLoad: Sendable, Hashable {
    /// The origin.
    public let origin: Origin
    /// The number of open connections that carry a request. Over HTTP/2 a connection can carry many.
    public var active: Int
    /// The number of open connections that carry none.
    public var idle: Int
    /// The number of requests that the open connections have carried so far.
    public var served: Int
    /// The age of the oldest open connection.
    public var oldest: Duration
    /// The number of requests that wait for their turn.
    public var waiting: Int
    /// How long the oldest of them has waited.
    public var longestWait: Duration

    /// Creates a load. The default is that of an origin without connections.
    public init(
        _ origin: Origin, active: Int = 0, idle: Int = 0, served: Int = 0, oldest: Duration = .zero, waiting: Int = 0,
        longestWait: Duration = .zero
    ) {
        (self.origin, self.active, self.idle, self.served) = (origin, active, idle, served)
        (self.oldest, self.waiting, self.longestWait) = (oldest, waiting, longestWait)
    }

    fileprivate func added(_ other: OriginLoad) -> OriginLoad {
        OriginLoad(
            origin, active: active + other.active, idle: idle + other.idle, served: served + other.served,
            oldest: max(oldest, other.oldest), waiting: waiting + other.waiting,
            longestWait: max(longestWait, other.longestWait))
    }
}

/// A transport that knows its load.
///
/// ```swift
/// let load = await (transport as? any LoadReporting)?.load
/// ```
public protocol LoadReporting: Transport {
    /// The load at this moment.
    var load: TransportLoad { get async }
}
