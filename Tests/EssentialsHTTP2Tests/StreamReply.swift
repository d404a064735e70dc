import EssentialsTestKit
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// A request as the test server read it.
struct StreamRequest: Sendable {
    let method: String
    let path: String
    let headers: HTTPHeaders
    let body: ByteBuffer
    /// Which connection of the server, counted from 0.
    let connection: Int
    /// Which request for its path this is, counted from 1.
    let ordinal: Int
}

/// What the test server does about a request.
struct StreamReply: Sendable {
    /// How an answer ends.
    enum End: Sendable {
        /// In order, with its trailers.
        case whole
        /// With a RST_STREAM.
        case reset(HTTP2ErrorCode)
        /// With a GOAWAY that says that this stream was not looked at.
        case goAwayUnprocessed
        /// With a GOAWAY that counts this stream in, after which the connection closes.
        case goAwayProcessed
        /// With the connection's, without a word.
        case close
        /// Not at all.
        case never
    }

    var status = 200
    var headers = HTTPHeaders()
    /// Nil sends no head either.
    var body: StreamBody? = StreamBody()
    var trailers = HTTPHeaders()
    /// What the head waits for.
    var headGate: LoopbackGate?
    /// What the end waits for, once all of the body is written.
    var endGate: LoopbackGate?
    var end = End.whole

    static func text(
        _ text: String, headers: HTTPHeaders = [:], trailers: HTTPHeaders = [:], after gate: LoopbackGate? = nil
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
}

/// The bytes of an answer, made piece by piece.
struct StreamBody: Sendable {
    private static let pieceSize = 16_384
    private static let filler = ByteBuffer(repeating: UInt8(ascii: "x"), count: pieceSize)

    let count: Int
    private let bytes: ByteBuffer?

    init(_ bytes: [UInt8] = []) {
        count = bytes.count
        self.bytes = ByteBuffer(bytes: bytes)
    }

    /// The same byte over and over.
    init(fillerCount: Int) {
        count = fillerCount
        bytes = nil
    }

    /// The piece that begins at an offset; nil at the end.
    func piece(at offset: Int) -> ByteBuffer? {
        let size = min(Self.pieceSize, count - offset)
        guard size > 0 else { return nil }
        return bytes == nil ? Self.filler.getSlice(at: 0, length: size) : bytes?.getSlice(at: offset, length: size)
    }
}
