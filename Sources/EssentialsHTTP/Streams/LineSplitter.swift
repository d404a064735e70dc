/// Splits byte chunks into lines. It buffers at most the beginning of one line, and does no I/O.
///
/// A line within one chunk is passed to its reader without a copy. Only a line that spans chunks is copied.
struct LineSplitter {
    /// U+FEFF as UTF-8, which some senders write before the text.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let endings: LineEndings
    private let maximumLength: Int
    /// The beginning of a line whose end was not received yet.
    private var beginning: [UInt8] = []
    /// The number of bytes of the byte order mark that were read; `nil` after the text has begun.
    private var markLength: Int? = 0
    /// Whether a following LF belongs to a CR that has already ended a line.
    private var followsCarriageReturn = false

    /// - Parameter maximumLength: The maximum number of bytes in a line, without its line ending.
    init(endings: LineEndings, maximumLength: Int) {
        self.endings = endings
        self.maximumLength = maximumLength
    }

    /// Reads the next line that ends in a chunk; `nil` if the rest of the chunk was consumed.
    ///
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - offset: The number of bytes of the chunk that were read. The method advances it.
    ///   - read: Receives the line without its line ending. The pointer is valid during the call.
    /// - Throws: `tooLarge` for a line above the maximum.
    mutating func next<Line>(
        in bytes: UnsafeRawBufferPointer, from offset: inout Int, _ read: (UnsafeRawBufferPointer) -> Line
    ) throws(RequestFailure) -> Line? {
        skipByteOrderMark(in: bytes, from: &offset)
        if followsCarriageReturn, offset < bytes.count {
            followsCarriageReturn = false
            if bytes[offset] == LineEndings.lineFeedByte { offset += 1 }
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        guard let length = endings.firstIndex(in: rest) else {
            offset = bytes.count
            try keep(rest)
            return nil
        }
        offset += length + 1
        followsCarriageReturn = rest[length] == LineEndings.carriageReturnByte
        let piece = UnsafeRawBufferPointer(rebasing: rest[..<length])
        if beginning.isEmpty {
            try check(count: piece.count, last: piece.last)
            return read(withoutCarriageReturn(piece))
        }
        try keep(piece)
        defer { beginning.removeAll(keepingCapacity: true) }
        return beginning.withUnsafeBytes { read(withoutCarriageReturn($0)) }
    }

    /// Reads the text after the last line ending; `nil` if it is empty.
    ///
    /// - Throws: `tooLarge` for a line above the maximum.
    mutating func finish<Line>(_ read: (UnsafeRawBufferPointer) -> Line) throws(RequestFailure) -> Line? {
        beginTextAfterPartOfMark()
        // No LF can follow a CR at the end, so the CR counts.
        try check(count: beginning.count, last: nil)
        defer { beginning = [] }
        return beginning.isEmpty ? nil : beginning.withUnsafeBytes { read($0) }
    }

    private mutating func skipByteOrderMark(in bytes: UnsafeRawBufferPointer, from offset: inout Int) {
        while let length = markLength, offset < bytes.count {
            guard bytes[offset] == Self.byteOrderMark[length] else { return beginTextAfterPartOfMark() }
            offset += 1
            markLength = length + 1 < Self.byteOrderMark.count ? length + 1 : nil
        }
    }

    /// Treats the beginning of an incomplete byte order mark as text.
    private mutating func beginTextAfterPartOfMark() {
        guard let length = markLength else { return }
        beginning.append(contentsOf: Self.byteOrderMark[..<length])
        markLength = nil
    }

    private mutating func keep(_ piece: UnsafeRawBufferPointer) throws(RequestFailure) {
        try check(count: beginning.count + piece.count, last: piece.last ?? beginning.last)
        beginning.append(contentsOf: piece)
    }

    private func check(count: Int, last: UInt8?) throws(RequestFailure) {
        // A CR at the end may turn out to be part of the line ending.
        let mayEnd = endings == .lineFeed && last == LineEndings.carriageReturnByte
        guard (mayEnd ? count - 1 : count) <= maximumLength else {
            throw RequestFailure(
                .tooLarge, "A line exceeds \(maximumLength) bytes.",
                remedy: "Raise the maximum if longer lines are expected.", phase: .receiving)
        }
    }

    private func withoutCarriageReturn(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard endings == .lineFeed, line.last == LineEndings.carriageReturnByte else { return line }
        return UnsafeRawBufferPointer(rebasing: line.dropLast())
    }
}
