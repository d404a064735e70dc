import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct RequestBodyTests {
    private struct Broken: Error {}

    private func source(of body: RequestBody) throws -> RequestBody.Source {
        guard case .stream(_, _, let open) = body.content else {
            Issue.record("The body is no stream.")
            throw Broken()
        }
        return open()
    }

    @Test("Bytes and empty bodies can be sent again, and streams cannot")
    func replayable() {
        #expect(RequestBody.none.isReplayable)
        #expect(RequestBody.bytes(Data("a".utf8)).isReplayable)
        #expect(!RequestBody.stream(AsyncStream<Data> { $0.finish() }, length: nil).isReplayable)
    }

    @Test("A stream keeps its declared length", arguments: [nil, 0, 12])
    func length(length: Int?) throws {
        let body = RequestBody.stream(AsyncStream<Data> { $0.finish() }, length: length)
        guard case .stream(let given, _, _) = body.content else {
            Issue.record("The body is no stream.")
            return
        }
        #expect(given == length)
    }

    @Test("The pieces of a stream are returned in order, followed by nil repeatedly")
    func pieces() async throws {
        let pieces = [Data("a".utf8), Data(), Data("bc".utf8)]
        let stream = AsyncStream<Data> { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        let next = try source(of: .stream(stream, length: 3))
        for piece in pieces { #expect(try await next() == piece) }
        #expect(try await next() == nil)
        #expect(try await next() == nil)
    }

    @Test("An error of the sequence is thrown and ends the stream")
    func failing() async throws {
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Broken())
        }
        let next = try source(of: .stream(stream, length: nil))
        #expect(try await next() == Data("a".utf8))
        await #expect(throws: Broken.self) { try await next() }
        #expect(try await next() == nil)
    }

    private func bytes<Pieces: AsyncSequence & Sendable>(of pieces: Pieces) async throws -> [Data]
    where Pieces.Element: Collection<UInt8> {
        let next = try source(of: .stream(pieces, length: nil))
        var received: [Data] = []
        while let piece = try await next() { received.append(piece) }
        return received
    }

    private func stream<Piece: Sendable>(_ pieces: Piece...) -> AsyncStream<Piece> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    @Test("The pieces of a stream can be any collections of bytes")
    func kinds() async throws {
        let expected = [Data("ab".utf8), Data(), Data("c".utf8)]
        #expect(try await bytes(of: stream(Data("ab".utf8), Data(), Data("c".utf8))) == expected)
        #expect(try await bytes(of: stream(Array("ab".utf8), [], Array("c".utf8))) == expected)
        #expect(try await bytes(of: stream("ab".utf8, "".utf8, "c".utf8)) == expected)
        let whole = Array("_ab_c".utf8)
        #expect(try await bytes(of: stream(whole[1..<3], whole[0..<0], whole[4...])) == expected)
        let chunk = BodyChunk(whole)
        #expect(try await bytes(of: stream(chunk[1..<3], chunk[0..<0], chunk[4...])) == expected)
        #expect(try await bytes(of: stream([0x61, 0x62].lazy.map { $0 as UInt8 })) == [Data("ab".utf8)])
        #expect(try await bytes(of: stream(repeatElement(UInt8(ascii: "x"), count: 3))) == [Data("xxx".utf8)])
    }

    @Test("Data and large chunks are passed on without a copy")
    func uncopied() async throws {
        let data = Data(repeating: 7, count: 100_000)
        let chunk = BodyChunk(data)
        func address(_ data: Data) -> UInt? {
            data.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
        }
        let sent = try await (bytes(of: stream(data)), bytes(of: stream(chunk)))
        #expect(sent.0.map(address) == [address(data)])
        #expect(sent.1.map(address) == [chunk.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }])
        #expect(sent.1 == [data])
    }

    /// A sequence whose pieces and iterator are not `Sendable`.
    private struct Unsendable: AsyncSequence, Sendable {
        final class Piece: Collection {
            let startIndex = 0, endIndex = 2
            func index(after index: Int) -> Int { index + 1 }
            subscript(index: Int) -> UInt8 { UInt8(ascii: "a") + UInt8(index) }
        }

        final class Iterator: AsyncIteratorProtocol {
            var isOver = false

            func next() async -> Piece? {
                defer { isOver = true }
                return isOver ? nil : Piece()
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator() }
    }

    @Test("The pieces and the iterator of a stream need not be Sendable")
    func unsendable() async throws {
        #expect(try await bytes(of: Unsendable()) == [Data("ab".utf8)])
    }
}
