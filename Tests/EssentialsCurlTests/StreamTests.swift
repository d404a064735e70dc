import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A stream")
struct StreamTests {
    // Sanitized code copies so slowly that other tests would miss their deadlines.
    #if ESSENTIALS_THREAD_SANITIZER
        private static let mebibytes = 8
    #else
        private static let mebibytes = 64
    #endif

    private func streamed(_ server: LoopbackServer, _ path: String = "/") throws -> TransportRequest {
        var sent = try request(server, path)
        sent.options.delivery = .streamed
        return sent
    }

    @Test("A stream delivers its head before the body, and each piece as soon as it arrives")
    func promptness() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "6")]), .text("abc"), .gate(gate), .text("def"), .keepAlive])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(streamed(server))
        var pieces: [String] = []
        for try await chunk in response.body {
            pieces.append(String(decoding: chunk.array, as: UTF8.self))
            gate.open()
        }
        #expect(pieces == ["abc", "def"])
    }

    @Test("A long stream arrives unchanged while a slow reader pauses the server")
    func slowReader() async throws {
        let piece = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        let count = Self.mebibytes
        let total = count << 20
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "\(total)")]), .repeatSend(piece, count: count), .keepAlive])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(streamed(server))
        var received = 0
        var isRight = true
        for try await chunk in response.body {
            // The reader sleeps after every few pieces.
            if received % (8 << 20) < chunk.count { try await Task.sleep(for: .milliseconds(5)) }
            chunk.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count, by: 997) {
                    if bytes[offset] != piece[(received + offset) % piece.count] { isRight = false }
                }
            }
            #expect(chunk.count <= 128 << 10)
            received += chunk.count
        }
        #expect(received == total)
        #expect(isRight)
    }

    @Test("A stream that is dropped unread closes its connection")
    func dropped() async throws {
        let server = try LoopbackServer { _ in
            .raw([
                .head(headers: [("Content-Length", "1000000000")]), .repeatSend([1, 2, 3], count: 1000),
                .waitForPeerClose,
            ])
        }
        let transport = try CurlTransport()
        do {
            let response = try await transport.send(streamed(server))
            #expect(response.status == .ok)
        }
        // The server's step ends when the client's side has closed.
        while server.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(server.connectionCount == 1)
    }

    @Test("A stream over the reader's limit is `tooLarge`")
    func collectLimit() async throws {
        let server = try LoopbackServer { _ in .response(body: [UInt8](repeating: 1, count: 300_000)) }
        let transport = try CurlTransport()
        let over = try await transport.send(streamed(server))
        #expect(await failure { try await over.body.collect(upTo: 299_999) }?.reason == .tooLarge)
        let within = try await transport.send(streamed(server))
        #expect(try await within.body.collect(upTo: 300_000).count == 300_000)
    }

    @Test("An empty stream ends at once")
    func empty() async throws {
        let server = try LoopbackServer { _ in .response(status: 204) }
        let transport = try CurlTransport()
        let response = try await transport.send(streamed(server))
        #expect(try await response.body.collect(upTo: 0).isEmpty)
    }

    @Test("A streamed request body arrives with its length, or chunked without one", arguments: [true, false])
    func upload(knowsLength: Bool) async throws {
        let server = try LoopbackServer { .response(body: $0.body) }
        let transport = try CurlTransport()
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: bytes.count, by: 70_000) {
                continuation.yield(Data(bytes[start..<start + 70_000]))
                continuation.yield(Data())
            }
            continuation.finish()
        }
        let body = RequestBody.stream(pieces, length: knowsLength ? bytes.count : nil)
        let response = try await transport.send(request(.post, server, body: body))
        #expect(response.body.data == Data(bytes))
        let seen = try #require(server.requests.first)
        #expect(seen.header("Content-Length") == (knowsLength ? "700000" : nil))
        #expect(seen.header("Transfer-Encoding") == (knowsLength ? nil : "chunked"))
    }

    struct SourceError: Error, Equatable {}

    @Test("A request fails with the error of its body's source")
    func failingSource() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        let pieces = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("begin".utf8))
            continuation.finish(throwing: SourceError())
        }
        let sent = try request(.post, server, body: .stream(pieces, length: nil))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .encoding)
        #expect(found?.underlying is SourceError)
        #expect(server.requestCount == 0)
    }

    @Test("A streamed request body ends when the server responds early and closes the connection")
    func earlyAnswer() async throws {
        let options = ServerOptions(onHead: { _ in .response(status: 413, body: "no") })
        let server = try LoopbackServer(options: options) { _ in .response() }
        let transport = try CurlTransport()
        let pieces = AsyncStream<Data> { continuation in
            for _ in 0..<100 { continuation.yield(Data(count: 100_000)) }
            continuation.finish()
        }
        let sent = try request(.post, server, body: .stream(pieces, length: nil))
        // The response was read before the connection broke, or after it. It must not hang in either case.
        do throws(RequestFailure) {
            let response = try await transport.send(sent)
            #expect(response.status.code == 413)
        } catch {
            #expect(error.reason == .interrupted)
        }
    }
}
