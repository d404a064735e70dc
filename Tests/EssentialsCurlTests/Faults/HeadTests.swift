import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Heads that break the rules of status lines and fields (RFC 9112, 4 and 5).
@Suite("A response's head", .serialized)
struct HeadTests {
    private static func field(
        _ name: String, _ line: String, is reason: RequestFailure.Reason? = nil, leaves fields: [String] = []
    ) -> Fault {
        Fault(
            name, fields: "Content-Length: 2\r\n\(line)\r\nX-Last: 1", "ok", is: reason,
            body: reason == nil ? "ok" : "",
            fields: reason == nil ? ["Content-Length: 2"] + fields + ["X-Last: 1"] : nil, end: .keepAlive)
    }

    static let fields: [Fault] = [
        field("NUL in a value", "X-A: a\0b", is: .protocolViolation),
        field("NUL in a name", "X\0A: a", is: .protocolViolation),
        field("no colon", "X-A", is: .protocolViolation),
        field("a second status line", "HTTP/1.1 404 Not Found", is: .protocolViolation),
        field("a carriage return in a value", "X-A: a\rSet-Cookie: b=c", leaves: []),
        field("a carriage return before the end of line", "X-A: a\r", leaves: ["X-A: a"]),
        field("other control characters in a value", "X-A: a\u{1}\u{7f}b", leaves: ["X-A: a\u{1}\u{7f}b"]),
        field("letters beyond ASCII in a value", "X-A: caf\u{e9} \u{20ac}", leaves: ["X-A: caf\u{e9} \u{20ac}"]),
        field("an empty value", "X-A:", leaves: ["X-A: "]),
        field("colons in a value", "X-A::b:c", leaves: ["X-A: :b:c"]),
        field("blanks around a value", "X-A: \t a b \t ", leaves: ["X-A: a b"]),
        field("a blank before the colon", "X-A : a", is: .protocolViolation),
        field("a tab before the colon", "X-A\t: a", is: .protocolViolation),
        field("a blank in a name", "X A: a", is: .protocolViolation),
        field("a tab in a name", "Location\tX: a", is: .protocolViolation),
        field("an empty name", ": a", is: .protocolViolation),
        field("a colon before a name", ":X-A: a", is: .protocolViolation),
        field("a status line for a name", "HTTP/1.1 200 OK: a", is: .protocolViolation),
        // Any other name that is not a token cannot be mistaken for a field.
        field("letters beyond ASCII in a name", "X-\u{e9}: a"),
    ]

    @Test("A head yields its valid fields with their whole values, or fails", arguments: fields)
    func field(fault: Fault) async throws { try await fault.expect() }

    static let framings: [Fault] = [
        Fault("blank before a length's colon", fields: "Content-Length : 2", "ok", is: .protocolViolation),
        Fault(
            "blank before an encoding's colon", fields: "Transfer-Encoding : chunked", "2\r\nok\r\n0\r\n\r\n",
            is: .protocolViolation),
        Fault(
            "blank before a colon in a trailer",
            fields: "Transfer-Encoding: chunked", "2\r\nok\r\n0\r\nX-A : b\r\n\r\n", is: .protocolViolation),
        Fault(
            "blank in a name in a trailer",
            fields: "Transfer-Encoding: chunked", "2\r\nok\r\n0\r\nX A: b\r\n\r\n", is: .protocolViolation),
        Fault("length in a folded line", fields: "X-A: a\r\n Content-Length: 2", "okay", body: "okay"),
        Fault("NUL before a name", fields: "Content-Length: 2\r\n\0X-A: a", "ok", is: .interrupted),
        Fault("empty line of two carriage returns", fields: "Content-Length: 2\r\n\r", "ok", is: .protocolViolation),
        Fault("line feeds alone", [.text("HTTP/1.1 200 OK\nContent-Length: 2\nX-A: 1\n\nok"), .keepAlive], body: "ok"),
    ]

    @Test("A line that is not a field does not frame the body", arguments: framings)
    func framing(fault: Fault) async throws { try await fault.expect() }

    @Test("A folded line is not a field", arguments: [" ", "\t", " \t "])
    func folding(blank: String) async throws {
        let bench = try Bench(bad: [
            .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: one\r\n\(blank)Set-Cookie: a=b\r\nX-B: b\r\n\r\nok"),
            .keepAlive,
        ])
        for delivery in deliveries {
            let outcome = try await bench.bad(as: delivery)
            #expect(outcome.text == "ok", "\(outcome)")
            #expect(outcome.fields.allSatisfy { !$0.lowercased().hasPrefix("set-cookie") }, "\(outcome)")
            #expect(outcome.fields.last == "X-B: b")
        }
        try await bench.expectRecovery()
    }

    private static func status(_ line: String, is reason: RequestFailure.Reason? = nil) -> Fault {
        Fault(
            String(line.prefix(40)), [.text("\(line)\r\nContent-Length: 2\r\n\r\nok"), .keepAlive], is: reason,
            body: reason == nil ? "ok" : "")
    }

    static let statuses: [Fault] = [
        status("hello", is: .protocolViolation),
        status("ICY 200 OK", is: .protocolViolation),
        status(" HTTP/1.1 200 OK", is: .protocolViolation),
        status("\r\nHTTP/1.1 200 OK", is: .protocolViolation),
        status("HTTP/1.1", is: .protocolViolation),
        status("HTTP/1.1 ", is: .protocolViolation),
        status("HTTP/1.1\t200 OK", is: .protocolViolation),
        status("HTTP/1. 200 OK", is: .protocolViolation),
        status("HTTP/11 200 OK", is: .protocolViolation),
        status("HTTP/1.2 200 OK", is: .protocolViolation),
        status("HTTP/1.9 200 OK", is: .protocolViolation),
        status("HTTP/1.10 200 OK", is: .protocolViolation),
        status("HTTP/3 200 OK", is: .protocolViolation),
        status("HTTP/1.1 abc OK", is: .protocolViolation),
        status("HTTP/1.1 20", is: .protocolViolation),
        status("HTTP/1.1 20 OK", is: .protocolViolation),
        status("HTTP/1.1 2000", is: .protocolViolation),
        status("HTTP/1.1 099 OK", is: .protocolViolation),
        status("HTTP/1.1 -20 OK", is: .protocolViolation),
        status("HTTP/1.1 200 O\0K", is: .protocolViolation),
        status("http/1.1 500 Internal Server Error", is: .protocolViolation),
        status("Http/1.1 404 Not Found", is: .protocolViolation),
        status("HTTP/x 404 Not Found", is: .protocolViolation),
        status("HTTP/garbage", is: .protocolViolation),
        status("HTTP/ 503 Service Unavailable", is: .protocolViolation),
        status("HTTP 503 Service Unavailable", is: .protocolViolation),
        status("HTTP/1.1\r", is: .protocolViolation),
        status("HTTP/1.1  500 Internal Server Error", is: .protocolViolation),
        status("HTTP/01.1 500 Internal Server Error", is: .protocolViolation),
        status("HTTP/1.1 500\tInternal Server Error", is: .protocolViolation),
        status("HTTP/1.1 500Internal Server Error", is: .protocolViolation),
        status("HTTP/2 500 Internal Server Error", is: .protocolViolation),
        status("HTTP/1.1 200"),
        status("HTTP/1.1 200 "),
        status("HTTP/1.1 200 OK\rSet-Cookie: a=b"),
        status("HTTP/1.1 200 caf\u{e9}"),
        status("HTTP/1.1 999 Hm"),
        status("HTTP/1.1 200 " + String(repeating: "R", count: 64 << 10)),
    ]

    @Test("A status line needs three digits and a known version, with any reason phrase or none", arguments: statuses)
    func status(fault: Fault) async throws {
        var expected = fault
        if fault.reason == nil { expected.fields = ["Content-Length: 2"] }
        try await expected.expect()
    }

    private static let noise = ServerStep.repeatSend(Array("0123456789".utf8), count: 1_000_000)

    static let bombs: [Fault] = [
        Fault("an endless value", [.text("HTTP/1.1 200 OK\r\nX-A: "), noise, .close], is: .tooLarge),
        Fault("an endless name", [.text("HTTP/1.1 200 OK\r\n"), noise, .close], is: .tooLarge),
        Fault("an endless reason", [.text("HTTP/1.1 200 "), noise, .close], is: .tooLarge),
        Fault("an endless line that is no status line", [noise, .close], is: .protocolViolation),
        Fault(
            "a line of 250 KB", fields: "X-A: " + String(repeating: "v", count: 250_000), "ok", is: .tooLarge),
        Fault(
            "100,000 short fields",
            [.text("HTTP/1.1 200 OK\r\n"), .repeatSend(Array("A:b\r\n".utf8), count: 100_000), .text("\r\n"), .close],
            is: .tooLarge),
        Fault(
            "65,540 lines “a:”, as many fields as would end a process",
            [.text("HTTP/1.1 200 OK\r\n"), .repeatSend(Array("a:\n".utf8), count: 65_540), .text("\r\n"), .close],
            is: .tooLarge),
        Fault(
            "65,540 lines “a:” of an informational response",
            [
                .text("HTTP/1.1 103 Hints\r\n"), .repeatSend(Array("a:\n".utf8), count: 65_540),
                .text("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close,
            ], is: .tooLarge),
        Fault(
            "65,540 lines “a:” behind a chunked body",
            [
                .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"),
                .repeatSend(Array("a:\r\n".utf8), count: 65_540), .text("\r\n"), .close,
            ], is: .tooLarge),
        Fault(
            "100,000 empty informational responses",
            [.repeatSend(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), count: 100_000), .close], is: .tooLarge),
        Fault(
            "fields of 100,000 informational responses",
            [.text("HTTP/1.1 103 Hints\r\n"), .repeatSend(Array("Link: <a>\r\n".utf8), count: 100_000), .close],
            is: .tooLarge),
    ]

    @Test("An endless head is soon abandoned", arguments: bombs)
    func bomb(fault: Fault) async throws { try await fault.expect() }

    @Test("A response's head has at most as many lines as the request allows", arguments: [1, 5, 1_000, 10_000])
    func lines(limit: Int) async throws {
        let bench = try Bench(options: ServerOptions()) { request in
            // In addition to the fields there are a status line, a length and an empty line.
            let count = (Int(request.path.split(separator: "/").last ?? "") ?? 0) - 3
            return [
                .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"),
                .repeatSend(Array("a:\r\n".utf8), count: count), .text("\r\nok"), .keepAlive,
            ]
        }
        for delivery in deliveries {
            for lines in [limit, limit + 1] where lines >= 3 {
                var sent = try request(bench.server, "/bad/\(lines)")
                sent.options.maximumHeadLines = limit
                sent.options.delivery = delivery
                let outcome = await bench.transport.outcome(of: sent)
                #expect(outcome.failure?.reason == (lines > limit ? .tooLarge : nil), "\(lines) lines: \(outcome)")
                if lines <= limit { #expect(outcome.fields.count == lines - 2) }
            }
        }
        try await bench.expectRecovery()
    }

    @Test("A limit on head lines outside 1 to 10,000 is refused", arguments: [Int.min, 0, 10_001, Int.max])
    func limits(lines: Int) async throws {
        var sent = try request(.get, try LoopbackServer { _ in .close })
        sent.options.maximumHeadLines = lines
        let transport = try CurlTransport()
        let failure = await failure { try await transport.send(sent) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message.contains("maximumHeadLines is \(lines).") == true)
    }

    @Test("Informational heads do not change the response")
    func informational() async throws {
        let early = "HTTP/1.1 103 Hints\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=b\r\n\r\n"
        let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await Fault(
            "an informational response with a length", [.text(early + early + final), .keepAlive], body: "ok",
            fields: ["Content-Length: 2"]
        ).expect()
        try await Fault("only informational responses", [.text(early), .close], is: .interrupted).expect()
    }
}
