extension ResponseBody {
    /// Reads the body as an event stream (WHATWG HTML, 9.2).
    ///
    /// Only a response with status 200 and media type `text/event-stream` is an event stream: checking its
    /// `Content-Type` is up to the caller. So is connecting again, with ``ServerSentEvent/id`` as `Last-Event-ID` after
    /// ``ServerSentEvent/retry``.
    ///
    /// ```swift
    /// guard response.headerFields[.contentType]?.hasPrefix("text/event-stream") == true else { return }
    /// for try await event in response.body.serverSentEvents() where event.event == "price" {
    ///     show(event.data)
    /// }
    /// ```
    ///
    /// - Parameter maximumSize: The most bytes in a line without its ending, comments too, and in an event's name, text
    ///   and id together.
    public func serverSentEvents(maximumSize: Int = 1 << 20) -> ServerSentEventSequence {
        ServerSentEventSequence(body: self, maximumSize: maximumSize)
    }
}

/// The events of an event stream, made by ``EssentialsTransport/ResponseBody/serverSentEvents(maximumSize:)``.
///
/// Each event is given as soon as the empty line after it has come; one that the end of the body cuts off is dropped.
/// The reader sets the pace of the transfer, as with the body itself, and a stream can be read once. Memory is bounded
/// by the largest event and line allowed and one piece of the body.
///
/// Iterating throws `tooLarge` in phase `receiving` for an event or line over the maximum, which cancels the transfer,
/// and whatever ended the transfer early.
///
/// ```swift
/// var lastEventID = ""
/// for try await event in response.body.serverSentEvents() {
///     lastEventID = event.id
///     print(event.event, event.data)
/// }
/// ```
public struct ServerSentEventSequence: AsyncSequence, Sendable {
    /// An event of the stream.
    public typealias Element = ServerSentEvent
    /// What ends a body early.
    public typealias Failure = RequestFailure

    private let body: ResponseBody
    private let maximumSize: Int

    init(body: ResponseBody, maximumSize: Int) {
        self.body = body
        self.maximumSize = maximumSize
    }

    /// Begins to read; a stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parsed: ParsedBody(body, parser: ServerSentEventParser(maximumSize: maximumSize)))
    }

    /// Reads the events of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parsed: ParsedBody<ServerSentEventParser>

        /// The next event; nil after the last, and after a failure.
        ///
        /// - Throws: `tooLarge` for an event or line over the maximum, and whatever ended the transfer.
        public mutating func next() async throws(RequestFailure) -> ServerSentEvent? { try await parsed.next() }

        /// The next event, read where the caller runs; what a `for` loop calls.
        ///
        /// - Throws: What ``next()`` throws.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> ServerSentEvent? {
            try await parsed.next()
        }
    }
}
