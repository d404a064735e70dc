extension ResponseBody {
    /// Reads the body as lines of text.
    ///
    /// A line ends in LF or CR LF, which are not part of it; a lone CR belongs to its line. What comes after the last
    /// ending is a line unless it is empty. The text is UTF-8: a byte order mark before it is removed, and bytes that
    /// are none become U+FFFD.
    ///
    /// ```swift
    /// for try await line in response.body.lines() {
    ///     let record = try decoder.decode(Record.self, from: Data(line.utf8))
    /// }
    /// ```
    ///
    /// - Parameter maximumLength: The most bytes in a line, without its ending.
    public func lines(maximumLength: Int = 65_536) -> LineSequence {
        LineSequence(body: self, maximumLength: maximumLength)
    }
}

/// The lines of a body, made by ``EssentialsTransport/ResponseBody/lines(maximumLength:)``.
///
/// Each line is given as soon as its ending has come. The reader sets the pace of the transfer, as with the body
/// itself, and a stream can be read once. Memory is bounded by the longest line allowed and one piece of the body; the
/// cost grows with the bytes alone, wherever they were cut.
///
/// Iterating throws `tooLarge` in phase `receiving` for a line over the maximum, which cancels the transfer, and
/// whatever ended the transfer early.
///
/// ```swift
/// var count = 0
/// for try await line in response.body.lines(maximumLength: 1_024) where !line.hasPrefix("#") { count += 1 }
/// ```
public struct LineSequence: AsyncSequence, Sendable {
    /// A line without its ending.
    public typealias Element = String
    /// What ends a body early.
    public typealias Failure = RequestFailure

    private let body: ResponseBody
    private let maximumLength: Int

    init(body: ResponseBody, maximumLength: Int) {
        self.body = body
        self.maximumLength = maximumLength
    }

    /// Begins to read; a stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parsed: ParsedBody(body, parser: Parser(maximumLength: maximumLength)))
    }

    /// Reads the lines of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parsed: ParsedBody<Parser>

        /// The next line; nil after the last, and after a failure.
        ///
        /// - Throws: `tooLarge` for a line over the maximum, and whatever ended the transfer.
        public mutating func next() async throws(RequestFailure) -> String? { try await parsed.next() }

        /// The next line, read where the caller runs; what a `for` loop calls.
        ///
        /// - Throws: What ``next()`` throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> String? {
            try await parsed.next()
        }
    }

    fileprivate struct Parser: ChunkParser {
        private var splitter: LineSplitter

        init(maximumLength: Int) {
            splitter = LineSplitter(endings: .lineFeed, maximumLength: maximumLength)
        }

        mutating func next(in bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(RequestFailure) -> String? {
            try splitter.next(in: bytes, from: &offset) { String(decoding: $0, as: UTF8.self) }
        }

        mutating func finish() throws(RequestFailure) -> String? {
            try splitter.finish { String(decoding: $0, as: UTF8.self) }
        }
    }
}
