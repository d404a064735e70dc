import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct ResponseBodyTests {
    /// A source that returns pieces one by one and records cancellation.
    private final class Pieces: ResponseBody.Source {
        private let pieces: Mutex<[Result<String, RequestFailure>]>
        private let cancels = Mutex(0)

        init(_ pieces: [Result<String, RequestFailure>]) { self.pieces = Mutex(pieces) }

        var cancelCount: Int { cancels.withLock { $0 } }
        var remaining: Int { pieces.withLock { $0.count } }

        func next() async throws(RequestFailure) -> BodyChunk? {
            let piece = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try piece.map { piece throws(RequestFailure) in BodyChunk(try piece.get().utf8) }
        }

        func cancel() { cancels.withLock { $0 += 1 } }
    }

    @Test("Bytes in memory are available at once, and those of a stream are not")
    func data() {
        #expect(ResponseBody(Data("ab".utf8)).data == Data("ab".utf8))
        #expect(ResponseBody(Data()).data == Data())
        #expect(ResponseBody(source: Pieces([])).data == nil)
    }

    @Test("Bytes up to the limit are collected, and one more is too large", arguments: [0, 1, 4])
    func limitOfBytes(count: Int) async throws {
        let bytes = Data(repeating: 7, count: count)
        #expect(try await ResponseBody(bytes).collect(upTo: count) == bytes)
        let failure = await #expect(throws: RequestFailure.self) {
            try await ResponseBody(bytes).collect(upTo: count - 1)
        }
        #expect(failure?.reason == .tooLarge)
        #expect(failure?.phase == .receiving)
    }

    @Test("A stream is collected up to the limit")
    func limitOfStream() async throws {
        let source = Pieces([.success("ab"), .success(""), .success("cd")])
        #expect(try await ResponseBody(source: source).collect(upTo: 4) == Data("abcd".utf8))
        #expect(source.cancelCount == 0)
    }

    @Test("A stream over the limit is cancelled and not read further")
    func overLimit() async {
        let source = Pieces([.success("ab"), .success("cd"), .success("ef")])
        let failure = await #expect(throws: RequestFailure.self) {
            try await ResponseBody(source: source).collect(upTo: 3)
        }
        #expect(failure?.reason == .tooLarge)
        #expect(failure?.message.contains("3 bytes") == true)
        #expect(source.cancelCount == 1)
        #expect(source.remaining == 1)
    }

    @Test(
        "A failure of the transfer is thrown", arguments: [RequestFailure.Reason.interrupted, .cancelled, .timeout])
    func failing(reason: RequestFailure.Reason) async throws {
        let collected = await #expect(throws: RequestFailure.self) {
            let source = Pieces([.success("ab"), .failure(RequestFailure(reason, "It ended."))])
            return try await ResponseBody(source: source).collect(upTo: 100)
        }
        #expect(collected?.reason == reason)
        let body = ResponseBody(source: Pieces([.success("ab"), .failure(RequestFailure(reason, "It ended."))]))
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next()?.array == Array("ab".utf8))
        let iterated = await #expect(throws: RequestFailure.self) { _ = try await iterator.next() }
        #expect(iterated?.reason == reason)
    }

    @Test("Iterating bytes returns them in one piece, once")
    func iterateBytes() async throws {
        var iterator = ResponseBody(Data("ab".utf8)).makeAsyncIterator()
        #expect(try await iterator.next()?.array == Array("ab".utf8))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        var empty = ResponseBody(Data()).makeAsyncIterator()
        #expect(try await empty.next() == nil)
    }

    @Test("Iterating a stream returns its pieces in order and then nil")
    func iterateStream() async throws {
        var seen: [String] = []
        for try await chunk in ResponseBody(source: Pieces([.success("a"), .success("bc")])) {
            seen.append(String(decoding: chunk.array, as: UTF8.self))
        }
        #expect(seen == ["a", "bc"])
    }
}
