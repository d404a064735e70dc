/// An event of an event stream (WHATWG HTML, 9.2).
///
/// ```swift
/// let event = ServerSentEvent(event: "price", data: "42", id: "7", retry: .seconds(3))
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The name of the event. It is `message` if the server sent none.
    public let event: String
    /// The text of the event. Several `data` lines are joined with LF.
    public let data: String
    /// The most recent event id of the stream, which this event or an earlier one set; empty before the first id.
    ///
    /// A request that reconnects sends it as `Last-Event-ID`.
    public let id: String
    /// The most recent reconnection time of the stream, which this event or an earlier one set; `nil` before the first
    /// one.
    public let retry: Duration?

    /// Creates an event for a test double.
    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
