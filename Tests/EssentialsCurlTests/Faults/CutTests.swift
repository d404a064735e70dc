import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The connection ends after each byte of a complete response.
@Suite("A truncated response", .serialized)
struct CutTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var head: String
        var tail: String
        var body: String
        /// Whether the body ends with the connection, so that a truncation within it looks like its end.
        var isDelimitedByClose = false
        var trailers: [String] = []
        /// The number of bytes that may be missing at the end: libcurl does not require the very last line feed of the
        /// chunks.
        var spare = 0
    }

    static let shapes = [
        Shape(
            testDescription: "with its length", head: "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 11\r\n\r\n",
            tail: "hello world", body: "hello world"),
        Shape(
            testDescription: "in chunks with trailers",
            head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            tail: "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-Sum: 7\r\n\r\n", body: "hello world", trailers: ["X-Sum: 7"],
            spare: 1),
        Shape(
            testDescription: "up to the connection's end", head: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
            tail: "hello world", body: "hello world", isDelimitedByClose: true),
        Shape(
            testDescription: "after an informational one",
            head: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            tail: "ok", body: "ok"),
    ]

    @Test(
        "A response that is cut at any byte is `interrupted`, and complete only at its full length", arguments: shapes)
    func everyByte(shape: Shape) async throws {
        try await sweep(shape, nil)
    }

    @Test("A response over TLS that is cut at any byte is `interrupted`", arguments: shapes)
    func everyByteOverTLS(shape: Shape) async throws {
        try await sweep(shape, Authority())
    }

    private func sweep(_ shape: Shape, _ authority: Authority?) async throws {
        let whole = Array((shape.head + shape.tail).utf8)
        let bench = try Bench(authority, options: ServerOptions()) { request in
            let cut = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return [.send(Array(whole[..<cut])), .close]
        }
        for cut in 0...whole.count {
            for delivery in deliveries {
                let outcome = try await bench.bad(.get, "/bad/\(cut)", as: delivery)
                expect(outcome, shape, cut, delivery)
            }
        }
        // Every truncated connection is closed, so no request was sent a second time.
        let counts = Dictionary(grouping: bench.server.requests, by: \.path).mapValues(\.count)
        #expect(counts.count == whole.count + 1)
        #expect(counts.values.allSatisfy { $0 == deliveries.count })
        try await bench.expectRecovery()
    }

    private func expect(
        _ outcome: Outcome, _ shape: Shape, _ cut: Int, _ delivery: TransportOptions.Delivery
    ) {
        let head = shape.head.utf8.count
        let whole = head + shape.tail.utf8.count - shape.spare
        let isWhole = cut >= whole || (shape.isDelimitedByClose && cut >= head)
        guard isWhole else {
            #expect(outcome.failure?.reason == .interrupted, "cut at \(cut), \(delivery): \(outcome)")
            // libcurl does not report a status line before its end.
            let statusLine = shape.head.utf8.prefix { $0 != 0x0a }.count
            if cut > statusLine { #expect(outcome.failure?.phase == .receiving, "cut at \(cut): \(outcome)") }
            // A stream delivers the bytes before the truncation, but never an incomplete head.
            #expect(outcome.status == (delivery == .streamed && cut >= head ? 200 : nil), "cut at \(cut): \(outcome)")
            #expect(shape.body.hasPrefix(outcome.text), "cut at \(cut): \(outcome)")
            return
        }
        #expect(outcome.failure == nil, "cut at \(cut), \(delivery): \(outcome)")
        #expect(outcome.text == (shape.isDelimitedByClose ? String(shape.tail.prefix(cut - head)) : shape.body))
        #expect(outcome.trailers == shape.trailers)
    }

    @Test("A reset in the middle of a large body is `interrupted`, and the reader receives the earlier bytes")
    func reset() async throws {
        let piece = [UInt8](repeating: 0x61, count: 64 << 10)
        for delivery in deliveries {
            let gate = LoopbackGate()
            let bench = try Bench(bad: [
                .head(headers: [("Content-Length", "1000000")]), .repeatSend(piece, count: 8), .gate(gate), .reset,
            ])
            async let outcome = bench.bad(as: delivery)
            // Unread bytes are lost in a reset, so the server waits until some were read.
            try await Task.sleep(for: .milliseconds(50))
            gate.open()
            let found = try await outcome
            #expect(found.failure?.reason == .interrupted, "\(found)")
            #expect(found.failure?.phase == .receiving)
            #expect(found.body.count <= piece.count * 8)
            #expect(bench.badCount == 1)
            try await bench.expectRecovery()
        }
    }
}
