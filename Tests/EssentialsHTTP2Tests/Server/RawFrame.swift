/// An HTTP/2 frame as it goes over the wire (RFC 9113, section 4.1), well-formed or not.
struct RawFrame: Sendable {
    enum Kind: UInt8, Sendable, Hashable {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32
    var payload: [UInt8] = []
    /// The length that the frame claims to have; `nil` is that of its payload.
    var claimedLength: Int?

    init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32, payload: [UInt8] = []) {
        self.kind = kind.rawValue
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    var bytes: [UInt8] {
        let length = Self.bigEndian(UInt32(claimedLength ?? payload.count))
        return length[1...] + [kind, flags] + Self.bigEndian(stream) + payload
    }

    // MARK: Frames

    static func data(_ text: String, stream: UInt32, flags: UInt8 = endStream) -> RawFrame {
        RawFrame(.data, flags: flags, stream: stream, payload: Array(text.utf8))
    }

    /// A header section in one frame. Its fields are literals that leave the compression's tables alone.
    static func headers(_ fields: HeaderList, stream: UInt32, flags: UInt8 = endHeaders) -> RawFrame {
        RawFrame(.headers, flags: flags, stream: stream, payload: fields.flatMap { literal($0.name, $0.value) })
    }

    static func continuation(_ fields: HeaderList, stream: UInt32, flags: UInt8 = 0) -> RawFrame {
        RawFrame(.continuation, flags: flags, stream: stream, payload: fields.flatMap { literal($0.name, $0.value) })
    }

    static func reset(_ code: HTTP2ErrorCode, stream: UInt32) -> RawFrame {
        RawFrame(.resetStream, stream: stream, payload: bigEndian(code.rawValue))
    }

    static func goAway(lastStream: UInt32, _ code: HTTP2ErrorCode = .noError) -> RawFrame {
        RawFrame(.goAway, stream: 0, payload: bigEndian(lastStream) + bigEndian(code.rawValue))
    }

    static func windowUpdate(_ increment: UInt32, stream: UInt32) -> RawFrame {
        RawFrame(.windowUpdate, stream: stream, payload: bigEndian(increment))
    }

    /// Settings by their numbers (RFC 9113, section 6.5.2).
    static func settings(_ values: [(UInt16, UInt32)]) -> RawFrame {
        // The low half of 32 bits is the setting's number.
        RawFrame(.settings, stream: 0, payload: values.flatMap { bigEndian(UInt32($0.0))[2...] + bigEndian($0.1) })
    }

    // MARK: Compression

    /// A literal field without indexing and without Huffman coding (RFC 7541, section 6.2.2).
    static func literal(_ name: String, _ value: String) -> [UInt8] { [0] + string(name) + string(value) }

    static func string(_ text: String) -> [UInt8] { integer(text.utf8.count, prefix: 7) + Array(text.utf8) }

    /// An integer whose first byte has so many bits for it, below `pattern` (RFC 7541, section 5.1).
    static func integer(_ value: Int, prefix: Int, pattern: UInt8 = 0) -> [UInt8] {
        let limit = 1 << prefix - 1
        if value < limit { return [pattern | UInt8(value)] }
        var bytes = [pattern | UInt8(limit)]
        var rest = value - limit
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
