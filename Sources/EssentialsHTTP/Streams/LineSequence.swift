extension ResponseBody {
    /// The body as lines of text.
    ///
    /// A line ends with LF or CR LF, which are not part of it. A single CR is part of the line. Text after the last
    /// line ending is a line unless it is empty. The text is decoded as UTF-8: a leading byte order mark is removed,
    /// and invalid bytes become U+FFFD.
    ///
    /// ```swift
    /// for try await line in response.body.lines() {
    ///     records.append(try decoder.decode(Record.self, from: Data(line.utf8)))
    /// }
    /// ```
    ///
    /// - Parameter maximumLength: The maximum number of bytes in a line, without its line ending.
    public func lines(maximumLength: Int = 65_536) -> LineSequence {
        LineSequence(body: self, maximumLength: maximumLength)
    }
}

/// The lines of a body, created by ``EssentialsTransport/ResponseBody/lines(maximumLength:)``.
///
/// Each line is delivered as soon as its line ending is received. The reader controls the pace of the transfer, as with
/// the body itself, and a stream can be read once. Memory is bounded by the maximum line length and one chunk of the
/// body. The cost is proportional to the number of bytes, regardless of the chunks.
///
/// Iterating throws `tooLarge` in the phase `receiving` for a line above the maximum, which cancels the transfer, and
/// the failure of the transfer.
///
/// ```swift
/// var count = 0
/// for try await line in response.body.lines(maximumLength: 1_024) where !line.hasPrefix("#") { count += 1 }
/// ```
public struct LineSequence: AsyncSequence, Sendable {
    /// A line without its line ending.
    public typealias Element = String
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    private let body: ResponseBody
    private let maximumLength: Int

    init(body: ResponseBody, maximumLength: Int) {
        self.body = body
        self.maximumLength = maximumLength
    }

    /// Begins reading. A stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parsed: ParsedBody(body, parser: Parser(maximumLength: maximumLength)))
    }

    /// Iterates over the lines of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parsed: ParsedBody<Parser>

        /// The next line; `nil` after the last one and after a failure.
        ///
        /// - Throws: `tooLarge` for a line above the maximum, and the failure of the transfer.
        public mutating func next() async throws(RequestFailure) -> String? { try await parsed.next() }

        /// The next line, read on the caller's actor. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
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
