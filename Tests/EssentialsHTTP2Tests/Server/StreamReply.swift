import EssentialsTestKit
import FoundationEssentials

/// A code of RST_STREAM and GOAWAY (RFC 9113, section 7).
struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable {
    let rawValue: UInt32

    static let noError = HTTP2ErrorCode(rawValue: 0)
    static let protocolError = HTTP2ErrorCode(rawValue: 1)
    static let internalError = HTTP2ErrorCode(rawValue: 2)
    static let flowControlError = HTTP2ErrorCode(rawValue: 3)
    static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    static let cancel = HTTP2ErrorCode(rawValue: 8)
    static let compressionError = HTTP2ErrorCode(rawValue: 9)
    static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
    static let http11Required = HTTP2ErrorCode(rawValue: 13)
}

/// The fields of a head or a trailer section, in order. Nothing is checked, so that tests can send what is wrong.
struct HeaderList: Sendable, Sequence, ExpressibleByDictionaryLiteral {
    typealias Field = (name: String, value: String)

    private var fields: [Field] = []

    init() {}

    init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    var isEmpty: Bool { fields.isEmpty }

    mutating func append(name: String, value: String) { fields.append((name: name, value: value)) }

    /// The first value of a field, whose name is written in lower case.
    func first(name: String) -> String? { fields.first { $0.name == name }?.value }

    func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

/// A request as the test server read it.
struct StreamRequest: Sendable {
    let method: String
    let path: String
    let headers: HeaderList
    let body: Data
    /// Which connection of the server, counted from 0.
    let connection: Int
    /// Which request for its path this is, counted from 1.
    let ordinal: Int
}

/// One thing that the test server does on a stream.
enum StreamStep: Sendable {
    case wait(LoopbackGate)
    /// Sends frames past the server's own HTTP/2 library, which does not know of them: the closure makes one after the
    /// other, from the stream's number and the index of the frame, until it returns `nil`.
    case frames(@Sendable (_ stream: UInt32, _ index: Int) -> RawFrame?)
    /// Announces how many streams the client may have open from now on.
    case maximumStreams(Int)
    /// Writes what was made so far, so that later frames are in another TLS record.
    case flush
    /// Begins the reply's response.
    case respond
    /// Ends the reply.
    case end
}

/// What the test server does about a request.
struct StreamReply: Sendable {
    /// How a response ends.
    enum End: Sendable {
        /// In order, with its trailers.
        case whole
        /// With a RST_STREAM.
        case reset(HTTP2ErrorCode)
        /// With a GOAWAY that says that this stream was not processed.
        case goAwayUnprocessed
        /// With a GOAWAY that includes this stream, after which the connection closes.
        case goAwayProcessed
        /// With the end of the connection, without a GOAWAY.
        case close
        /// Not at all.
        case never
    }

    var status = 200
    var headers = HeaderList()
    /// The body; `nil` sends no head either.
    var body: StreamBody? = StreamBody()
    var trailers = HeaderList()
    /// What the server does before the response.
    var steps: [StreamStep] = []
    /// The gate that the head waits for.
    var headGate: LoopbackGate?
    /// The gate that the end waits for, once all of the body is written.
    var endGate: LoopbackGate?
    var end = End.whole

    static func text(
        _ text: String, headers: HeaderList = [:], trailers: HeaderList = [:], after gate: LoopbackGate? = nil
    ) -> StreamReply {
        StreamReply(headers: headers, body: StreamBody(Array(text.utf8)), trailers: trailers, headGate: gate)
    }

    static func bytes(_ body: StreamBody) -> StreamReply { StreamReply(body: body) }

    /// Ends without a head.
    static func unanswered(_ end: End) -> StreamReply { StreamReply(body: nil, end: end) }

    /// Ends after a head and some bytes.
    static func cut(after text: String, once gate: LoopbackGate? = nil, _ end: End) -> StreamReply {
        StreamReply(body: StreamBody(Array(text.utf8)), endGate: gate, end: end)
    }

    /// Sends frames and nothing else.
    static func frames(_ make: @escaping @Sendable (_ stream: UInt32) -> [RawFrame]) -> StreamReply {
        endlessFrames { stream, index in
            let frames = make(stream)
            return index < frames.count ? frames[index] : nil
        }
    }

    /// Sends frames, each in a TLS record of its own, and nothing else.
    static func separateFrames(_ make: @escaping @Sendable (_ stream: UInt32) -> [RawFrame], count: Int) -> StreamReply
    {
        let steps = (0..<count).flatMap { number in
            [StreamStep.frames { stream, index in index == 0 ? make(stream)[number] : nil }, .flush]
        }
        return StreamReply(body: nil, steps: steps, end: .never)
    }

    /// Sends frames until the closure returns `nil`, and nothing else.
    static func endlessFrames(
        _ make: @escaping @Sendable (_ stream: UInt32, _ index: Int) -> RawFrame?
    ) -> StreamReply {
        StreamReply(body: nil, steps: [.frames(make)], end: .never)
    }

    /// Everything that the server does, in order.
    var allSteps: [StreamStep] {
        var all = steps
        if let headGate { all.append(.wait(headGate)) }
        if body != nil { all.append(.respond) }
        if let endGate { all.append(.wait(endGate)) }
        return all + [.end]
    }
}

/// The bytes of a body, made piece by piece.
struct StreamBody: Sendable {
    private static let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)

    let count: Int
    private let content: [UInt8]?

    init(_ bytes: [UInt8] = []) {
        count = bytes.count
        content = bytes
    }

    /// The same byte over and over.
    init(fillerCount: Int) {
        count = fillerCount
        content = nil
    }

    /// The bytes that begin at an offset, at most so many.
    func bytes(from offset: Int, upTo maximum: Int) -> ArraySlice<UInt8> {
        let size = min(maximum, count - offset)
        guard let content else { return Self.filler[..<min(size, Self.filler.count)] }
        return content[offset..<offset + size]
    }
}
