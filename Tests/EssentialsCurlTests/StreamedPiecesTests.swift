import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A streamed request body")
struct StreamedPiecesTests {
    // Sanitized code copies so slowly that other tests would miss their deadlines.
    #if ESSENTIALS_THREAD_SANITIZER
        private static let mebibytes = 4
    #else
        private static let mebibytes = 24
    #endif

    private static func stream<Piece: Sendable>(_ pieces: [Piece]) -> AsyncStream<Piece> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    @Test("A request body is sent from pieces of each kind, and empty pieces do not end it", arguments: [true, false])
    func kinds(knowsLength: Bool) async throws {
        let server = try LoopbackServer { .response(body: $0.body) }
        let transport = try CurlTransport()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let ranges = [0..<0, 0..<1, 1..<1, 1..<100_000, 100_000..<299_999, 299_999..<300_000, 300_000..<300_000]
        let length = knowsLength ? bytes.count : nil
        let (data, chunk) = (Data(bytes), BodyChunk(bytes))
        let bodies: [RequestBody] = [
            .stream(Self.stream(ranges.map { Array(bytes[$0]) }), length: length),
            .stream(Self.stream(ranges.map { bytes[$0] }), length: length),
            .stream(Self.stream(ranges.map { data.subdata(in: $0) }), length: length),
            .stream(Self.stream(ranges.map { data[$0] }), length: length),
            .stream(Self.stream(ranges.map { chunk[$0] }), length: length),
            .stream(Self.stream(ranges).map { bytes[$0].lazy.map { $0 } }, length: length),
        ]
        for body in bodies {
            let response = try await transport.send(request(.put, server, body: body))
            #expect(response.body.data == data)
        }
        #expect(server.requests.map { $0.header("Content-Length") } == bodies.map { _ in length.map { "\($0)" } })
        await transport.shutdown()
    }

    @Test("A downloaded body is streamed into an upload, unchanged and with bounded memory", arguments: [true, false])
    func proxy(knowsLength: Bool) async throws {
        let piece = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        let count = Self.mebibytes
        let total = count << 20
        let source = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "\(total)")]), .repeatSend(piece, count: count), .keepAlive])
        }
        let target = try LoopbackServer { .response(status: 201, body: "\($0.body.count)") }
        let transport = try CurlTransport()

        var download = try request(source)
        download.options.delivery = .streamed
        let downloaded = try await transport.send(download)
        let body = RequestBody.stream(downloaded.body, length: knowsLength ? total : nil)
        let stored = try await transport.send(request(.put, target, body: body))

        #expect(stored.status == .created)
        #expect(stored.text == "\(total)")
        let received = try #require(target.requests.first).body
        #expect(received.count == total)
        #expect(stride(from: 0, to: total, by: 997).allSatisfy { received[$0] == piece[$0 % piece.count] })
        #expect(downloaded.body.ending != nil)
        await transport.shutdown()
    }

    @Test("An upload fails with the failure of the download that it is streamed from")
    func interruptedProxy() async throws {
        let source = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "100000")]), .send([UInt8](repeating: 1, count: 50_000)), .close])
        }
        let target = try LoopbackServer { _ in .response(status: 201) }
        let transport = try CurlTransport()
        var download = try request(source)
        download.options.delivery = .streamed
        let body = try await transport.send(download).body
        let found = await failure {
            try await transport.send(request(.put, target, body: .stream(body, length: 100_000)))
        }
        #expect(found?.reason == .interrupted)
        #expect(target.requestCount == 0)
        await transport.shutdown()
    }

    @Test("An upload that is cancelled cancels the download that it is streamed from")
    func cancelledProxy() async throws {
        let source = try LoopbackServer { _ in
            .raw([
                .head(headers: [("Content-Length", "1000000000")]),
                .repeatSend([UInt8](repeating: 1, count: 1 << 20), count: 1000), .waitForPeerClose,
            ])
        }
        let arrived = LoopbackGate()
        let options = ServerOptions(onHead: { _ in
            arrived.open()
            return .raw([.waitForPeerClose])
        })
        let target = try LoopbackServer(options: options) { _ in .response() }
        let transport = try CurlTransport()
        var download = try request(source)
        download.options.delivery = .streamed
        let sending: Task<Void, any Error>
        do {
            let body = try await transport.send(download).body
            let upload = try request(.put, target, body: .stream(body, length: nil))
            sending = Task { _ = try await transport.send(upload) }
        }
        await arrived.opened()
        sending.cancel()
        #expect(await failure { try await sending.value }?.reason == .cancelled)
        while source.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
        await transport.shutdown()
    }
}
