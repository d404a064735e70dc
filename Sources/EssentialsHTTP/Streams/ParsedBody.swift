/// Parses elements from a sequence of byte chunks. It does no I/O.
protocol ChunkParser {
    associatedtype Element

    /// Parses the next element that ends in a chunk; `nil` if the rest of the chunk was consumed.
    ///
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - offset: The number of bytes of the chunk that were parsed. The method advances it.
    mutating func next(in bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(RequestFailure) -> Element?

    /// Parses the element that the end of the bytes completes; `nil` if there is none. It is called once.
    mutating func finish() throws(RequestFailure) -> Element?
}

/// Reads a body through a parser. It holds one chunk at a time.
struct ParsedBody<Parser: ChunkParser> {
    private(set) var parser: Parser
    /// The body; `nil` after its end or a failure, so that the transfer is released.
    private var body: ResponseBody?
    private var chunks: ResponseBody.AsyncIterator?
    private var chunk: BodyChunk?
    private var offset = 0

    init(_ body: ResponseBody, parser: Parser) {
        self.parser = parser
        self.body = body
        chunks = body.makeAsyncIterator()
    }

    /// The next element; `nil` after the last one and after a failure. A failure of the parser cancels the transfer.
    mutating func next() async throws(RequestFailure) -> Parser.Element? {
        while body != nil {
            if let element = try parsed() { return element }
            // Release the chunk before waiting for the next one.
            chunk = nil
            offset = 0
            guard try await receive() else {
                close()
                return try parser.finish()
            }
        }
        return nil
    }

    private mutating func parsed() throws(RequestFailure) -> Parser.Element? {
        guard let chunk else { return nil }
        do throws(RequestFailure) {
            // The pointer is valid only during the call, so parsers copy what they keep.
            return try chunk.withUnsafeBytes { bytes throws(RequestFailure) in
                try parser.next(in: bytes, from: &offset)
            }
        } catch {
            if case .stream(let source) = body?.content { source.cancel() }
            close()
            throw error
        }
    }

    private mutating func receive() async throws(RequestFailure) -> Bool {
        do throws(RequestFailure) {
            chunk = try await chunks?.next()
            return chunk != nil
        } catch {
            close()
            throw error
        }
    }

    private mutating func close() {
        body = nil
        chunks = nil
        chunk = nil
    }
}
