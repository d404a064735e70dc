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
}
