/// A connection that has carried its first request, or that was closed.
public struct ConnectionEvent: Sendable, Hashable {
    /// What has happened.
    public enum Kind: Sendable, Hashable {
        /// The connection is about to carry its first request. A connection that was only tried, or whose server was refused, has
        /// no events.
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

/// Receives an event when a connection of a transport opens or closes.
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
    /// Receives an event.
    ///
    /// It is called on the thread that does the input and output, so it must not block. The events of one connection come in their
    /// order. A transport with several shards, or one for each policy, has several threads, which call it at the same time.
    func observe(_ event: ConnectionEvent)
}
