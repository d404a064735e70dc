import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A response at the wrong moment must not be delivered to any request.
@Suite("Responses at the wrong time", .serialized)
struct DesyncTests {
    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    @Test(
        "A response on an idle connection is not delivered to the next request", arguments: [false, true],
        [
            (HTTPRequest.Method.get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            (.head, "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n"), (.get, "HTTP/1.1 204 No\r\n\r\n"),
        ])
    func late(isTLS: Bool, first: (method: HTTPRequest.Method, text: String)) async throws {
        let (gate, written) = (LoopbackGate(), LoopbackGate())
        let bench = try Bench(
            isTLS ? Authority() : nil,
            bad: [.text(first.text), .gate(gate), .text(Self.evil), .gate(written), .keepAlive])
        _ = try await bench.bad(first.method, as: .collected(upTo: 1_000))
        gate.open()
        try await Task.sleep(for: .milliseconds(100))
        written.open()
        try await bench.expectRecovery("late, TLS \(isTLS)")
    }

    @Test(
        "A response that follows one that was read completely is not delivered to the next request",
        arguments: [false, true],
        [
            "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 304 No\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ])
    func padded(isTLS: Bool, first: String) async throws {
        let padding = String(repeating: "x", count: 16_384 - first.utf8.count)
        let bench = try Bench(isTLS ? Authority() : nil, bad: [.text(first + padding + Self.evil), .keepAlive])
        _ = try await bench.bad(as: .collected(upTo: 1_000))
        try await Task.sleep(for: .milliseconds(50))
        try await bench.expectRecovery("padded, TLS \(isTLS)")
    }

    /// A server's idle time-out, as nginx and others send it before they close.
    @Test("A timeout response on an idle connection does not affect the next request", arguments: [false, true])
    func idleTimeout(isTLS: Bool) async throws {
        let gate = LoopbackGate()
        let bench = try Bench(
            isTLS ? Authority() : nil,
            bad: [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .gate(gate),
                .text("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .close,
            ])
        _ = try await bench.bad(as: .collected(upTo: 1_000))
        gate.open()
        try await Task.sleep(for: .milliseconds(100))
        try await bench.expectRecovery("idle time-out, TLS \(isTLS)")
    }

    @Test("A response that only the end of the connection delimits is truncated if TLS does not end properly")
    func truncation() async throws {
        try await Fault(
            "cut", fields: "Connection: close", "hello", is: .interrupted, end: .closeWithoutNotify
        ).expect(Authority())
        try await Fault("whole", fields: "Connection: close", "hello", body: "hello").expect(Authority())
    }

    @Test(
        "A response with an invalid length, or with two, is refused",
        arguments: [
            "5, 6", "5 5", "5x", "0x5", "5.0", "+5", "-1", "", "9223372036854775808", "18446744073709551621",
            "5\r\nContent-Length: 6", "6\r\nContent-Length: 5",
        ])
    func lengths(value: String) async throws {
        try await Fault(value, fields: "Content-Length: \(value)", "hello!", is: .protocolViolation).expect()
    }

    @Test("A response with the same length twice is accepted", arguments: ["5, 5", "5\r\nContent-Length: 5", "0005"])
    func sameLengths(value: String) async throws {
        try await Fault(value, fields: "Content-Length: \(value)", "hello", body: "hello", end: .keepAlive).expect()
    }

    /// Heads whose first field begins with a blank, after a line that libcurl reads differently from most programs.
    static let foldedHeads = [
        "HTTP/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 200 OK\n\tfolded: x\n",
        "http/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nhttp/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 100 Continue\r\n\r:\nhttp/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 100 Continue\r\n\r\r\nhttp/1.1 200 OK\r\n folded: x\r\n",
        "HTTP/1.1 100 Continue\r\n\r x\nHTTP/1.1 200 OK\r\n folded: x\r\n",
    ]

    /// libcurl before 8.1.1 appends such a line to one of an earlier response, whose memory was freed.
    @Test("A response that begins with a folded line does no harm", arguments: foldedHeads, [false, true])
    func foldedFirst(head: String, isTLS: Bool) async throws {
        let bench = try Bench(
            isTLS ? Authority() : nil, bad: [.text(head + "Content-Length: 2\r\n\r\nok"), .keepAlive])
        // A response with fields comes first, because libcurl remembers its last field.
        try await bench.expectRecovery("before, TLS \(isTLS)")
        for _ in 0..<5 {
            #expect(try await bench.bad(as: .collected(upTo: 100)).failure?.reason == .protocolViolation)
            try await bench.expectRecovery("folded, TLS \(isTLS)")
            try await bench.expectRecovery("folded again, TLS \(isTLS)")
        }
    }

    static let blamed: [Fault] = [
        Fault("0x3", fields: "Transfer-Encoding: chunked", "0x3\r\nabc\r\n0\r\n\r\n", is: .protocolViolation),
        Fault(
            "a trailer without a colon", fields: "Transfer-Encoding: chunked",
            "3\r\nabc\r\n0\r\nnocolon\r\n\r\n", is: .protocolViolation),
        Fault(
            "a trailer with a NUL", fields: "Transfer-Encoding: chunked",
            "3\r\nabc\r\n0\r\nX-A: a\0b\r\n\r\n", is: .protocolViolation),
        Fault(
            "a trailer without an end",
            [
                .head(headers: [("Transfer-Encoding", "chunked")]), .text("0\r\nA: "),
                .repeatSend(Array("0123456789".utf8), count: 1_000_000), .close,
            ], is: .tooLarge),
        Fault(
            "a line of more than 100 kB",
            [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: "),
                .repeatSend(Array("0123456789".utf8), count: 11_000), .text("\r\n\r\nok"), .keepAlive,
            ], is: .tooLarge),
        Fault(
            "a folded value", fields: "Content-Length: 2\r\nX-A: one\r\n two", "ok", body: "ok",
            fields: ["Content-Length: 2", "X-A: one two"], end: .keepAlive),
        Fault(
            "HTTP/2 as text", [.text("HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive],
            is: .protocolViolation),
    ]

    @Test("A malformed response is the server's fault, and not the request's", arguments: blamed)
    func blame(fault: Fault) async throws { try await fault.expect() }

    @Test("The phase of a failure shows whether any byte arrived")
    func phases() async throws {
        let bench = try Bench(bad: [.close])
        #expect(try await bench.bad(as: .streamed).failure?.phase == .waiting)
        let server = try LoopbackServer(options: ServerOptions(onAccept: { _ in [.hang] })) { _ in .close }
        let endless = AsyncStream<Data>(unfolding: { Data(count: 1 << 20) })
        for body in [RequestBody.bytes(Data(count: 64 << 20)), .stream(endless, length: nil)] {
            var sent = try request(.post, server, body: body)
            sent.options.idleTimeout = .milliseconds(300)
            let outcome = await bench.transport.outcome(of: sent)
            #expect(outcome.failure?.phase != .receiving, "\(outcome)")
        }
    }

    /// The second request waits for the first one's TLS connection and ends there. Its handle must not serve a third
    /// one.
    @Test("A request that ended while it waited for another's connection affects no later response")
    func endedWhileWaiting() async throws {
        let gate = LoopbackGate()
        let stalled = try stalledServer(opening: gate)
        let good = try LoopbackServer { _ in .response(body: "good") }
        let transport = try CurlTransport()
        let url = try RequestURL("https://localhost:\(stalled.port)/")
        let first = Task { try await transport.send(TransportRequest(.get, url)) }
        await gate.opened()
        var waiting = TransportRequest(.get, url)
        waiting.options.totalTimeout = .milliseconds(200)
        let second = waiting
        #expect(await failure { try await transport.send(second) }?.reason == .timeout)
        var third = try request(good)
        third.options.delivery = .streamed
        let outcome = await transport.outcome(of: third)
        #expect(outcome.text == "good", "\(outcome)")
        first.cancel()
        _ = await first.result
    }
}
