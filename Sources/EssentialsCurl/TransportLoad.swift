/// How busy a transport is at a moment.
///
/// ```swift
/// let load = await transport.load
/// logger.info("http", metadata: ["waiting": "\(load.waiting)", "longest": "\(load.longestWait)"])
/// ```
public struct TransportLoad: Sendable, Hashable {
    /// Requests that were given to a connection, or to the search for one.
    public var inFlight: Int
    /// Requests that wait for their turn.
    public var waiting: Int
    /// How long the one among them that came first has waited.
    public var longestWait: Duration

    /// Makes a load.
    public init(inFlight: Int = 0, waiting: Int = 0, longestWait: Duration = .zero) {
        self.inFlight = inFlight
        self.waiting = waiting
        self.longestWait = longestWait
    }
}
