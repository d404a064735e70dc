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
    /// The state of a subscription.
    public enum Status: Sendable, Hashable {
        /// The subscription connects to the server.
        case connecting
        /// Events are received.
        case connected
        /// The subscription waits before it connects again: for the end of a pause, or after a logout for credentials.
        case waiting
        /// The subscription has ended: it was cancelled, the service was closed, or the server does not want it (204).
        case ended
        /// The server has refused the subscription, or has sent something other than events.
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

    /// Ends the connection. An event that is being received is still passed on completely.
    public func cancel() { task.cancel() }

    /// The state of the subscription.
    public var status: Status { follower.status }
}

extension ResourceService {
    /// Follows a stream of server-sent events (WHATWG HTML, 9.2), which changes or invalidates resources.
    ///
    /// When the stream ends or breaks, it is connected again after the pause that the server named (`retry`), with the
    /// ID of the last event (`Last-Event-ID`). The resources that it feeds are then invalid, because events may have
    /// been missed: the resources that `receive` has so far requested from its second parameter, and those that a
    /// pattern selects. The observed ones are loaded, four at a time.
    ///
    /// ```swift
    /// let events = service.follow(eventsAt: "events", feeding: ["/orders/*"]) { event, resources in
    ///     resources.invalidate(resources.resource("orders", event.data, as: Order.self))
    /// }
    /// ```
    ///
    /// The request has the configuration of the resource at the path, except its decorators. After a change of the
    /// environment, the stream of the new server is followed.
    ///
    /// A stream that was opened with credentials or a cookie ends with them. When they are cleared or replaced, its
    /// events no longer count, and all resources that it feeds are invalid. It is connected again with the next
    /// credentials, without the ID of the last event. After a logout it waits for credentials. A token that a token
    /// source renews does not end the stream.
    ///
    /// A stream without credentials continues after a login. If it is connected again later, it uses the new
    /// credentials and counts as another stream. A session with only a cookie and without an entered account cannot be
    /// recognized: begin a new subscription after its login.
    ///
    /// - Parameters:
    ///   - path: The path of the stream, as in ``resource(_:as:variant:)``.
    ///   - patterns: Resources that events may change, even if no event has done so yet.
    ///   - replays: Whether the server sends all missed events to a client that names its last one. Then nothing
    ///     becomes invalid after an interruption, as long as events have ids that can be sent: up to 1,024 bytes,
    ///     without control characters. The default is `false`.
    ///   - maximumSize: The maximum size of an event in bytes. A larger one ends the stream as `tooLarge`.
    ///   - receive: Receives the events in order. The next event is read when it has returned.
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
