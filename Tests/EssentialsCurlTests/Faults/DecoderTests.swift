import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

/// Compressed bodies that cost a decoder time and have no content.
@Suite("A decoder", .serialized, .timeLimit(.minutes(5)))
struct DecoderTests {
    /// A body without content: its beginning, and the part that is repeated without end.
    struct Emptiness: Sendable, CustomTestStringConvertible {
        var coding: String
        var beginning: [UInt8]
        var period: [UInt8]
        var testDescription: String

        init(_ name: String, _ coding: String, _ beginning: [UInt8], _ period: [UInt8]) {
            (testDescription, self.coding, self.beginning, self.period) = (name, coding, beginning, period)
        }
    }

    private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

    static let emptiness: [Emptiness] = [
        Emptiness("stored blocks", "gzip", gzipHead, [0, 0, 0, 0xff, 0xff]),
        // Eight blocks of ten bits: begin, fixed code, end.
        Emptiness("blocks of the fixed code", "gzip", gzipHead, repeated([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])),
        Emptiness("blocks of a code of their own", "gzip", gzipHead, repeated(ownCode)),
        Emptiness("a file name", "gzip", [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255], [0x61]),
        Emptiness("metadata blocks", "br", [0x0c], [0x06]),
        // A frame with an empty block, and a skippable frame of four bytes.
        Emptiness("frames", "zstd", [], [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]),
        Emptiness("frames to skip", "zstd", [], [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]),
    ]

    /// An empty block whose code has 257 letters and one distance (RFC 1951, 3.2.7): two lengths are run lengths of
    /// zeros, and the end of the block is the only letter.
    private static let ownCode: [UInt8] = {
        func bits(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> $0 & 1) } }
        var code = bits(0, 1) + bits(2, 2) + bits(0, 5) + bits(0, 5) + bits(14, 4)
        // Three-bit lengths of the code length code in their order: the third (18) and the eighteenth (1) are one bit
        // long.
        code += (0..<18).flatMap { bits($0 == 2 || $0 == 17 ? 1 : 0, 3) }
        code += bits(1, 1) + bits(138 - 11, 7) + bits(1, 1) + bits(118 - 11, 7)
        return code + bits(0, 1) + bits(0, 1) + bits(0, 1)
    }()

    /// Repeats the bits eight times, which makes whole bytes, the least significant bit first.
    private static func repeated(_ bits: [UInt8]) -> [UInt8] {
        let all = (0..<8).flatMap { _ in bits }
        return stride(from: 0, to: all.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 | all[start + $1] << UInt8($1) }
        }
    }

    /// Sends requests beside a hostile one on the same thread, and returns the outcomes of those that took more than a
    /// second.
    private func lateRequests(
        beside body: Emptiness, _ delivery: TransportOptions.Delivery, _ bench: Bench
    ) async throws -> [String] {
        let hostile = Task { try await bench.bad(as: delivery) }
        var late: [String] = []
        // The other request would fail with `timeout` if the decoder blocked the thread.
        for number in 0..<20 {
            var sent = try request(bench.server, "/good/\(number)")
            sent.options.totalTimeout = .seconds(1)
            let outcome = await bench.transport.outcome(of: sent)
            if outcome.failure?.reason == .timeout {
                late.append("\(number): \(outcome)")
            } else {
                #expect(outcome.text == "/good/\(number)", "\(body.testDescription), \(delivery): \(outcome)")
            }
        }
        let outcome = try await hostile.value
        #expect(outcome.failure?.reason == .protocolViolation, "\(delivery): \(outcome)")
        #expect(outcome.body.isEmpty)
        return late
    }

    @Test("A body without content is abandoned, and other requests on the same thread continue", arguments: emptiness)
    func empty(body: Emptiness) async throws {
        // 32 MB, which arrive as fast as they are read.
        let bench = try Bench(bad: [
            .head(headers: [("Content-Encoding", body.coding)]), .send(body.beginning),
            .repeatSend(body.period, count: (32 << 20) / body.period.count), .close,
        ])
        for delivery in deliveries {
            // A busy machine delays a request by a second at times. A decoder that blocks the thread delays each try.
            var late: [String] = []
            for _ in 0..<3 {
                late = try await lateRequests(beside: body, delivery, bench)
                if late.isEmpty { break }
            }
            #expect(late == [], "\(body.testDescription), \(delivery)")
        }
        try await bench.expectRecovery()
    }

    @Test("A zstd body, whose window can be 128 MiB, is decoded only if it is collected")
    func zstd() async throws {
        // A frame with one block of two uncompressed bytes (RFC 8878, 3.1.1).
        let frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 0x11, 0, 0] + Array("ok".utf8)
        let server = try LoopbackServer { _ in .response(headers: [("Content-Encoding", "zstd")], body: frame) }
        let transport = try CurlTransport()
        let collected = await transport.outcome(of: try request(server))
        #expect(collected.text == "ok", "\(collected)")
        var sent = try request(server)
        sent.options.delivery = .streamed
        let streamed = await transport.outcome(of: sent)
        #expect(streamed.failure?.reason == .protocolViolation, "\(streamed)")
        sent.options.decompresses = false
        let raw = await transport.outcome(of: sent)
        #expect(Array(raw.body) == frame, "\(raw)")
        for space in ["\u{b}", "\u{c}"] {
            let spaced = try LoopbackServer { _ in
                .raw([
                    .text("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\(space)\r\nContent-Length: 11\r\n\r\n"),
                    .send(frame),
                ])
            }
            var request = try request(spaced)
            request.options.delivery = .streamed
            #expect(await transport.outcome(of: request).failure?.reason == .protocolViolation)
        }
        let accepted = server.requests.map { $0.header("Accept-Encoding") ?? "" }
        #expect(accepted[0].contains("zstd"))
        #expect(accepted[1] == accepted[0].replacing(", zstd", with: ""))
    }

    @Test("Codings count only where there is a body to decode")
    func bodiless() async throws {
        let twice = "Content-Encoding: gzip, zstd\r\n"
        for (method, text) in [
            (HTTPRequest.Method.head, "HTTP/1.1 200 OK\r\n\(twice)Content-Length: 9\r\n\r\n"),
            (.get, "HTTP/1.1 304 Not Modified\r\n\(twice)\r\n"), (.get, "HTTP/1.1 204 No Content\r\n\(twice)\r\n"),
            (.get, "HTTP/1.1 103 Hints\r\n\(twice)\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ] {
            let bench = try Bench(bad: [.text(text), .keepAlive])
            for delivery in deliveries {
                let outcome = try await bench.bad(method, as: delivery)
                #expect(outcome.failure == nil, "\(text): \(outcome)")
            }
            try await bench.expectRecovery()
        }
    }

    @Test("Trailers of an unread stream are also counted and checked line by line")
    func trailersOfPausedStream() async throws {
        // The body fills the buffer for a waiting reader, so libcurl keeps the trailers of the same read in one piece.
        let packed = try Gzip.zeros(count: 2_200_000)
        for (trailers, reason) in [
            (String(repeating: "a:\n", count: 14_000), RequestFailure.Reason.tooLarge),
            ("X-A: a\r\nX-B : b\r\n", .protocolViolation),
        ] {
            let whole =
                Array("\(String(packed.count, radix: 16))\r\n".utf8) + packed + Array("\r\n0\r\n\(trailers)\r\n".utf8)
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]), .send(whole)])
            }
            let transport = try CurlTransport()
            var sent = try request(server)
            sent.options.delivery = .streamed
            let response = try await transport.send(sent)
            try await Task.sleep(for: .milliseconds(200))
            let found = await failure { _ = try await response.body.collect(upTo: 4 << 20) }
            #expect(found?.reason == reason, "\(String(describing: found))")
        }
    }
}
