/// An event that a server sent in an event stream (WHATWG HTML, 9.2).
///
/// ```swift
/// let event = ServerSentEvent(event: "price", data: "42", id: "7", retry: .seconds(3))
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's name; `message` where the server gave none.
    public let event: String
    /// The text of the event. Several `data` lines are joined with LF.
    public let data: String
    /// The last event id that the stream has given, with this event or an earlier one; empty before the first.
    ///
    /// A request that takes up the stream again sends it as `Last-Event-ID`.
    public let id: String
    /// The time to wait before connecting again that the stream has announced last, in this event or before it.
    public let retry: Duration?

    /// Makes an event, for doubles.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
