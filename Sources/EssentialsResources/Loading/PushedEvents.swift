public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// A connection to a stream of server-sent events. It ends with ``cancel()`` or with its last reference.
///
/// ```swift
/// let events = service.follow(eventsAt: "events") { event, resources in
///     resources.invalidate(resources.resource("orders", event.data, as: Order.self))
/// }
/// ```
public final class EventSubscription: Sendable {
    /// How a subscription is.
    public enum Status: Sendable, Hashable {
        /// It connects to the server.
        case connecting
        /// Events are received.
        case connected
        /// It waits before it connects again: for the end of a pause, or after a logout for credentials.
        case waiting
        /// It has ended: it was cancelled, the service was closed, or the server does not want it (204).
        case ended
        /// The server has refused it, or has sent something else than events.
        case failed(RequestFailure)
    }

    let follower: EventFollower
    private let task: Task<Void, Never>

    init(_ follower: EventFollower) {
        self.follower = follower
        task = .counted { await follower.run() }
        follower.register(task)
    }

    deinit { cancel() }

    /// Ends the connection. An event that is being received is still passed on to its end.
    public func cancel() { task.cancel() }

    /// How the subscription is.
    public var status: Status { follower.status }
}

extension ResourceService {
    /// Follows a stream of server-sent events (WHATWG HTML, 9.2), which changes or invalidates resources.
    ///
    /// The stream is connected again when it ends or breaks, after the pause that the server named (`retry`) and with the
    /// id of the last event (`Last-Event-ID`). What the stream feeds is then invalid, because events may have been missed:
    /// all resources that were asked of the second parameter of `receive` so far, and those that a pattern selects. The
    /// observed ones are loaded, four at a time.
    ///
    /// ```swift
    /// let events = service.follow(eventsAt: "events", feeding: ["/orders/*"]) { event, resources in
    ///     resources.invalidate(resources.resource("orders", event.data, as: Order.self))
    /// }
    /// ```
    ///
    /// The request has the configuration of the resource at the path, except its decorators. After a change of the
    /// environment the stream of the new server is followed.
    ///
    /// A stream that was opened with credentials, or with a cookie, ends with them: when they are cleared or replaced, its
    /// events count no longer, and all that it feeds is invalid. It is connected again with the next credentials, without
    /// the id of the last event. After a logout it waits for them. Tokens that a token source renews end nothing. A stream
    /// without credentials goes on; if it is connected again after a login, then with the new credentials, as another stream.
    /// A session that has only a cookie, and no account that was entered, cannot be told from none: begin a new
    /// subscription after its login.
    ///
    /// - Parameters:
    ///   - path: The path of the stream, as in ``resource(_:as:variant:)``.
    ///   - patterns: Resources that events can change without having done so yet.
    ///   - replays: Whether the server sends all missed events to a client that names its last one. Then nothing becomes
    ///     invalid after an interruption, as long as events have ids that can be sent: up to 1,024 bytes, without control
    ///     characters. The default is `false`.
    ///   - maximumSize: The maximum size of an event in bytes. A larger one ends the stream as `tooLarge`.
    ///   - receive: Receives the events in order. The next one is read when it has returned.
    /// - Returns: The subscription, which ends with its last reference.
    public func follow(
        eventsAt path: String, feeding patterns: [ResourcePattern] = [], replays: Bool = false,
        maximumSize: Int = 1 << 20,
        _ receive: @escaping @Sendable (ServerSentEvent, PushedResources) async -> Void
    ) -> EventSubscription {
        let stream = resource(at: .path(path), variant: nil)
        let resources = PushedResources(service: stream.service, memory: PushedMemory(patterns))
        return EventSubscription(
            EventFollower(
                stream: stream, resources: resources, machine: EventStreamMachine(replays: replays),
                maximumSize: maximumSize, receive: receive))
    }
}
