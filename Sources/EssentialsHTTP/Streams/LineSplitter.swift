/// Splits bytes that come in pieces into lines. Holds at most the beginning of one line; has no I/O.
///
/// A line that lies within one piece is lent to its reader where it is; only one that spans pieces is copied.
struct LineSplitter {
    /// U+FEFF as UTF-8, which some senders put before the text.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let endings: LineEndings
    private let maximumLength: Int
    /// The beginning of a line whose end has not come.
    private var beginning: [UInt8] = []
    /// How many bytes of the byte order mark have been seen; nil once the text has begun.
    private var markLength: Int? = 0
    /// Whether an LF at this place belongs to the CR before it, which has ended a line already.
    private var followsCarriageReturn = false

    /// - Parameter maximumLength: The most bytes in a line, without its ending.
    init(endings: LineEndings, maximumLength: Int) {
        self.endings = endings
        self.maximumLength = maximumLength
    }

    /// Reads the next line that ends in a piece; nil when the rest of the piece has been taken over.
    ///
    /// - Parameters:
    ///   - bytes: The piece.
    ///   - offset: How far the piece has been read; moved on.
    ///   - read: Is lent the line without its ending.
    /// - Throws: `tooLarge` for a line over the maximum.
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

    /// Reads what comes after the last ending; nil if that is nothing.
    ///
    /// - Throws: `tooLarge` for a line over the maximum.
    mutating func finish<Line>(_ read: (UnsafeRawBufferPointer) -> Line) throws(RequestFailure) -> Line? {
        beginTextAfterPartOfMark()
        // A CR at the very end has no LF any more and counts.
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

    /// What looked like a byte order mark was none: it is text.
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
        // A CR in the last place may turn out to belong to the ending.
        let mayEnd = endings == .lineFeed && last == LineEndings.carriageReturnByte
        guard (mayEnd ? count - 1 : count) <= maximumLength else {
            throw RequestFailure(
                .tooLarge, "A line is over \(maximumLength) bytes.",
                remedy: "Raise the maximum if such long lines are expected.", phase: .receiving)
        }
    }

    private func withoutCarriageReturn(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard endings == .lineFeed, line.last == LineEndings.carriageReturnByte else { return line }
        return UnsafeRawBufferPointer(rebasing: line.dropLast())
    }
}
