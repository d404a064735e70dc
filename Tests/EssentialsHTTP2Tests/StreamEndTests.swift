import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Streams that end early", .timeLimit(.minutes(5)))
struct StreamEndTests {
    private static let codes: [HTTP2ErrorCode] = [.internalError, .cancel, .protocolError, .enhanceYourCalm]

    @Test("A stream that is reset in the middle of its body is interrupted and the others are not", arguments: codes)
    func resetInBody(_ code: HTTP2ErrorCode) async throws {
        let bothRun = Countdown(2)
        let other = LoopbackGate()
        try await TestBench.secure(handler: { request in
            if request.path == "/warm" { return .text("warm") }
            bothRun.arrive()
            if request.path == "/cut" { return .cut(after: "half", once: bothRun.gate, .reset(code)) }
            return .text("whole", after: other)
        }) { bench in
            try await bench.text("/warm")
            let whole = Task { try await bench.text("/whole") }
            let failure = try await bench.failure(of: bench.request("/cut"))
            #expect(failure?.reason == .interrupted)
            other.open()
            #expect(try await whole.value == "whole")
            #expect(try await bench.text("/warm") == "warm")
            #expect(bench.server.record.connectionCount == 1)
            #expect(bench.server.record.requests["/cut"] == 1)
        }
    }

    @Test("A reader gets the bytes that came before a reset, and then the failure")
    func resetInStreamedBody() async throws {
        let half = LoopbackGate()
        try await TestBench.secure(handler: { _ in .cut(after: "half", once: half, .reset(.internalError)) }) { bench in
            let response = try await bench.transport.send(bench.request { $0.delivery = .streamed })
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next()?.array == Array("half".utf8))
            half.open()
            var failure: RequestFailure?
            do throws(RequestFailure) { _ = try await iterator.next() } catch { failure = error }
            #expect(failure?.reason == .interrupted)
        }
    }

    @Test("A body that is shorter than its announced length is interrupted")
    func shortBody() async throws {
        try await TestBench.secure(handler: { _ in
            var reply = StreamReply.cut(after: "half", .close)
            reply.headers = ["content-length": "8"]
            return reply
        }) { bench in
            let failure = try await bench.failure(of: bench.request())
            #expect(failure?.reason == .interrupted)
        }
    }

    @Test("A connection that closes interrupts all its streams")
    func connectionCloses() async throws {
        let bothRun = Countdown(2)
        try await TestBench.secure(handler: { request in
            if request.path == "/warm" { return .text("warm") }
            bothRun.arrive()
            return .cut(after: "half", once: bothRun.gate, .close)
        }) { bench in
            try await bench.text("/warm")
            let first = Task { try await bench.failure(of: bench.request("/1")) }
            let second = try await bench.failure(of: bench.request("/2"))
            #expect(try await first.value?.reason == .interrupted)
            #expect(second?.reason == .interrupted)
            #expect(try await bench.text("/warm") == "warm")
        }
    }

    // libcurl keeps a RST_STREAM back until it has something else to write on the connection.

    @Test("A cancelled stream is reset before the next request is sent, and others continue", arguments: [true, false])
    func cancelled(_ hasHead: Bool) async throws {
        let bothRun = Countdown(2)
        let other = LoopbackGate()
        try await TestBench.secure(handler: { request in
            if request.path == "/warm" { return .text("warm") }
            bothRun.arrive()
            if request.path == "/whole" { return .text("whole", after: other) }
            return hasHead ? .cut(after: "half", .never) : .unanswered(.never)
        }) { bench in
            try await bench.text("/warm")
            let whole = Task { try await bench.text("/whole") }
            let cancelled = Task { try await bench.failure(of: bench.request("/cancelled")) }
            await bothRun.gate.opened()
            cancelled.cancel()
            #expect(try await cancelled.value?.reason == .cancelled)
            #expect(try await bench.text("/warm") == "warm")
            #expect(bench.server.record.resets["/cancelled"]?.count == 1)
            other.open()
            #expect(try await whole.value == "whole")
            #expect(bench.server.record.resets["/whole"] == nil)
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("Dropping a streamed body resets its stream before the next request is sent")
    func dropped() async throws {
        try await TestBench.secure(handler: { request in
            request.path == "/endless" ? .cut(after: "half", .never) : .text("whole")
        }) { bench in
            let status = try await bench.transport.send(bench.request("/endless") { $0.delivery = .streamed }).status
            #expect(status == .ok)
            #expect(try await bench.text("/whole") == "whole")
            #expect(bench.server.record.resets["/endless"]?.count == 1)
            #expect(bench.server.record.connectionCount == 1)
        }
    }
}

@Suite("Deadlines of streams", .timeLimit(.minutes(5)))
struct StreamDeadlineTests {
    /// Which deadline is set, and whether a head arrives before it.
    private static let deadlines: [(isTotal: Bool, hasHead: Bool)] = [(true, false), (true, true), (false, false)]

    @Test("A stream past its deadline leaves its connection to the others", arguments: deadlines)
    func deadline(_ isTotal: Bool, _ hasHead: Bool) async throws {
        let other = LoopbackGate()
        try await TestBench.secure(handler: { request in
            switch request.path {
            case "/slow": hasHead ? .cut(after: "half", .never) : .unanswered(.never)
            case "/other": .text("other", after: other)
            default: .text("quick")
            }
        }) { bench in
            try await bench.text("/quick")
            let waiting = Task { try await bench.text("/other") }
            let failure = try await bench.failure(
                of: bench.request("/slow") {
                    if isTotal { $0.totalTimeout = .milliseconds(200) } else { $0.idleTimeout = .milliseconds(200) }
                })
            #expect(failure?.reason == .timeout)
            // On a busy machine the deadline may pass before the head arrives.
            #expect(failure?.phase == .waiting || hasHead && failure?.phase == .receiving)
            #expect(try await bench.text("/quick") == "quick")
            other.open()
            #expect(try await waiting.value == "other")
            #expect(bench.server.record.connectionCount == 1)
        }
    }
}
