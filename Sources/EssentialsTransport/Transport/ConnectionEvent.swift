/// A connection that has carried its first request, or that was closed.
public struct ConnectionEvent: Sendable, Hashable {
    /// What has happened.
    public enum Kind: Sendable, Hashable {
        /// The connection is about to carry its first request. One that was only tried, or whose server was refused, is not told.
        case opened
        /// It was closed.
        ///
        /// - Parameters:
        ///   - lifetime: The time since the socket was opened.
        ///   - served: The number of requests that it has carried.
        case closed(lifetime: Duration, served: Int)
    }

    /// The origin of its first request.
    public let origin: Origin
    /// Whether it speaks HTTP/2, so that requests share it.
    public let isShared: Bool
    /// What has happened.
    public let kind: Kind

    /// Creates an event.
    public init(_ kind: Kind, origin: Origin, isShared: Bool = false) {
        (self.kind, self.origin, self.isShared) = (kind, origin, isShared)
    }
}

/// Is told when a transport's connections open and close.
///
/// ```swift
/// struct ConnectionLog: ConnectionObserver {
///     func observe(_ event: ConnectionEvent) {
///         if case .closed(let lifetime, let served) = event.kind { print(event.origin, lifetime, served) }
///     }
/// }
/// configuration.connectionObservers = [ConnectionLog()]
/// ```
public protocol ConnectionObserver: Sendable {
    /// Receives an event. It is called on a thread that does the input and output of the transport, in the order of the events, so
    /// it must not block.
    func observe(_ event: ConnectionEvent)
}
