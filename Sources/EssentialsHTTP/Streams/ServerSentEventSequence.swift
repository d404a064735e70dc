extension ResponseBody {
    /// The body as an event stream (WHATWG HTML, 9.2).
    ///
    /// Only a response with status 200 and the media type `text/event-stream` is an event stream. The caller must check
    /// its status and `Content-Type`. The caller also reconnects, after the time of the iterator's
    /// ``ServerSentEventSequence/AsyncIterator/retry`` and with its
    /// ``ServerSentEventSequence/AsyncIterator/lastEventID`` as `Last-Event-ID`. The function `events(of:)` of a
    /// data-request service does all of this.
    ///
    /// ```swift
    /// guard response.headerFields[.contentType]?.hasPrefix("text/event-stream") == true else { return }
    /// for try await event in response.body.serverSentEvents() where event.event == "price" {
    ///     show(event.data)
    /// }
    /// ```
    ///
    /// - Parameter maximumSize: The maximum number of bytes in a line without its line ending, also in a comment, and
    ///   in an event's name, text and id together.
    public func serverSentEvents(maximumSize: Int = 1 << 20) -> ServerSentEventSequence {
        ServerSentEventSequence(body: self, maximumSize: maximumSize)
    }
}

/// The events of an event stream, created by ``EssentialsTransport/ResponseBody/serverSentEvents(maximumSize:)``.
///
/// Each event is delivered as soon as the empty line after it is received. An event that the end of the body cuts off
/// is discarded. The reader controls the pace of the transfer, as with the body itself, and a stream can be read once.
/// Memory is bounded by the maximum size of an event and a line, and one chunk of the body.
///
/// Iterating throws `tooLarge` in the phase `receiving` for an event or line above the maximum, which cancels the
/// transfer, and the failure of the transfer.
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
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    private let body: ResponseBody
    private let maximumSize: Int

    init(body: ResponseBody, maximumSize: Int) {
        self.body = body
        self.maximumSize = maximumSize
    }

    /// Begins reading. A stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parsed: ParsedBody(body, parser: ServerSentEventParser(maximumSize: maximumSize)))
    }

    /// Iterates over the events of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parsed: ParsedBody<ServerSentEventParser>

        /// The id after which a request that reconnects continues: the last one of the blocks that have been read,
        /// also of a block without data, which is no event. Empty after events without an id; `nil` if there was
        /// neither an event nor an id.
        public var lastEventID: String? { parsed.parser.lastEventID }
        /// The last reconnection time of the blocks that have been read, also of a block without data; `nil` if there
        /// was none.
        public var retry: Duration? { parsed.parser.lastRetry }

        /// The next event; `nil` after the last one and after a failure.
        ///
        /// - Throws: `tooLarge` for an event or line above the maximum, and the failure of the transfer.
        public mutating func next() async throws(RequestFailure) -> ServerSentEvent? { try await parsed.next() }

        /// The next event, read on the caller's actor. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> ServerSentEvent? {
            try await parsed.next()
        }
    }
}
