/// The load of a transport at one moment.
///
/// ```swift
/// let load = await transport.load
/// logger.info("http", metadata: ["waiting": "\(load.waiting)", "longest": "\(load.longestWait)"])
/// ```
public struct TransportLoad: Sendable, Hashable {
    /// The number of requests that have a connection or are opening one.
    public var inFlight: Int
    /// The number of requests that wait for their turn.
    public var waiting: Int
    /// How long the oldest of the waiting requests has waited.
    public var longestWait: Duration

    /// Creates a load. The default is that of a transport without requests.
    public init(inFlight: Int = 0, waiting: Int = 0, longestWait: Duration = .zero) {
        self.inFlight = inFlight
        self.waiting = waiting
        self.longestWait = longestWait
    }

    /// Adds the load of another part of the transport.
    package mutating func add(_ other: TransportLoad) {
        inFlight += other.inFlight
        waiting += other.waiting
        longestWait = max(longestWait, other.longestWait)
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
