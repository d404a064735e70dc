/// What the test server has seen so far.
struct ServerRecord: Sendable {
    /// A frame other than DATA that a client has sent.
    struct Frame: Sendable, Hashable {
        let connection: Int
        let kind: RawFrame.Kind
        let stream: UInt32
        /// The code of a RST_STREAM or GOAWAY.
        var code: HTTP2ErrorCode?
    }

    private static let maximumFrames = 10_000

    /// The protocol of each connection in the order of acceptance; `nil` while it is being negotiated.
    var protocols: [String?] = []
    /// How many requests began, by path.
    var requests: [String: Int] = [:]
    /// How many streams are open, by connection.
    private var open: [Int: Int] = [:]
    /// The most streams that were open at once, by connection.
    private(set) var maximumOpen: [Int: Int] = [:]
    /// The codes of the received RST_STREAM frames, by path.
    var resets: [String: [HTTP2ErrorCode]] = [:]
    /// The first ten thousand received frames other than DATA.
    private(set) var frames: [Frame] = []
    /// How many bytes of frames the server has sent past its HTTP/2 library.
    var rawByteCount = 0

    var connectionCount: Int { protocols.count }
    var requestCount: Int { requests.values.reduce(0, +) }
    /// The most streams that one connection had open at once.
    var maximumConcurrency: Int { maximumOpen.values.max() ?? 0 }

    /// Counts a request and returns its number among those for its path.
    mutating func began(_ path: String, connection: Int) -> Int {
        requests[path, default: 0] += 1
        open[connection, default: 0] += 1
        maximumOpen[connection] = max(maximumOpen[connection] ?? 0, open[connection] ?? 0)
        return requests[path] ?? 0
    }

    mutating func ended(connection: Int) { open[connection, default: 0] -= 1 }

    mutating func received(_ frame: Frame) {
        if frames.count < Self.maximumFrames { frames.append(frame) }
    }
}
