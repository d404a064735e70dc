/// Parses the events of an event stream (WHATWG HTML, 9.2.5 and 9.2.6). It does no I/O.
struct ServerSentEventParser: ChunkParser {
    private let maximumSize: Int
    private var splitter: LineSplitter
    private var name = ""
    /// The text so far; `nil` before the first `data` line, which differs from an empty text.
    private var data: String?
    /// The last event id, which is kept after an event.
    private var id = ""
    /// The reconnection time, which is kept after an event.
    private var retry: Duration?
    /// Whether the stream has had an id.
    private var hasID = false
    /// The last event id after the last complete block; `nil` if no block had data or an id.
    private(set) var lastEventID: String?
    /// The reconnection time after the last complete block.
    private(set) var lastRetry: Duration?

    /// - Parameter maximumSize: The maximum number of bytes in a line, and in an event's name, text and id together.
    init(maximumSize: Int) {
        self.maximumSize = maximumSize
        splitter = LineSplitter(endings: .carriageReturnOrLineFeed, maximumLength: maximumSize)
    }

    mutating func next(
        in bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(RequestFailure) -> ServerSentEvent? {
        while let field = try splitter.next(in: bytes, from: &offset, EventStreamField.init(line:)) {
            if let event = try take(field) { return event }
        }
        return nil
    }

    /// Always `nil`: an event without a following empty line is discarded.
    mutating func finish() -> ServerSentEvent? { nil }

    private mutating func take(_ field: EventStreamField) throws(RequestFailure) -> ServerSentEvent? {
        switch field {
        case .end: return dispatched()
        case .ignored: break
        case .retry(let time): retry = time
        case .event(let text):
            name = text
            try check()
        case .id(let text):
            (id, hasID) = (text, true)
            try check()
        case .data(let text):
            if data == nil {
                data = text
            } else {
                data?.append("\n")
                data?.append(text)
            }
            try check()
        }
        return nil
    }

    /// The event; `nil` without a `data` line. The name is reset in any case.
    private mutating func dispatched() -> ServerSentEvent? {
        defer {
            name = ""
            data = nil
        }
        // A block without data is no event, but its id and its time count.
        if hasID || data != nil { lastEventID = id }
        lastRetry = retry
        guard let data else { return nil }
        return ServerSentEvent(event: name.isEmpty ? "message" : name, data: data, id: id, retry: retry)
    }

    private func check() throws(RequestFailure) {
        guard name.utf8.count + id.utf8.count + (data?.utf8.count ?? 0) <= maximumSize else {
            throw RequestFailure(
                .tooLarge, "An event exceeds \(maximumSize) bytes.",
                remedy: "Raise the maximum if larger events are expected.", phase: .receiving)
        }
    }
}
