/// Makes events out of the bytes of an event stream (WHATWG HTML, 9.2.5 and 9.2.6). Has no I/O.
struct ServerSentEventParser: ChunkParser {
    private let maximumSize: Int
    private var splitter: LineSplitter
    private var name = ""
    /// The text so far; nil before the first `data` line, which is another thing than an empty one.
    private var data: String?
    /// Stays when an event is over.
    private var id = ""
    /// Stays when an event is over.
    private var retry: Duration?

    /// - Parameter maximumSize: The most bytes in a line, and in an event's name, text and id together.
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

    /// Nothing: an event without the empty line after it does not count.
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
            id = text
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

    /// Without a `data` line there is no event, and its name is forgotten.
    private mutating func dispatched() -> ServerSentEvent? {
        defer {
            name = ""
            data = nil
        }
        guard let data else { return nil }
        return ServerSentEvent(event: name.isEmpty ? "message" : name, data: data, id: id, retry: retry)
    }

    private func check() throws(RequestFailure) {
        guard name.utf8.count + id.utf8.count + (data?.utf8.count ?? 0) <= maximumSize else {
            throw RequestFailure(
                .tooLarge, "An event is over \(maximumSize) bytes.",
                remedy: "Raise the maximum if such large events are expected.", phase: .receiving)
        }
    }
}
