import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("The pace of streamed bodies", .timeLimit(.minutes(5)))
struct PaceTests {
    /// How far a server is ahead of a reader.
    private final class Lead: Sendable {
        private let state = Mutex((written: 0, read: 0, maximum: 0))

        var written: Int { state.withLock { $0.written } }
        var maximum: Int { state.withLock { $0.maximum } }

        func wrote(_ count: Int) {
            state.withLock { state in
                state.written += count
                state.maximum = max(state.maximum, state.written - state.read)
            }
        }

        func read(_ count: Int) { state.withLock { $0.read += count } }
    }

    private static let size = 96 << 20
    /// The most bytes between the server and the reader: libcurl's window of 32 MiB, the sockets' buffers, and the
    /// chunks that wait for the reader.
    private static let limit = 48 << 20

    @Test("A server is never further ahead of a slow reader than windows and buffers allow")
    func slowReader() async throws {
        let lead = Lead()
        var options = HTTP2Server.Options()
        options.onWritten = { lead.wrote($0) }
        try await TestBench.plain(options, handler: { _ in .bytes(StreamBody(fillerCount: Self.size)) }) { bench in
            let response = try await bench.transport.send(
                bench.request("/large") {
                    $0.delivery = .streamed
                    $0.protocolVersion = .http2
                })
            // Requests to another server are the reader's clock: they take turns with the body on the engine's thread.
            let clock = try LoopbackServer { _ in .response(body: "tick") }
            defer { clock.stop() }
            let tick = TransportRequest(.get, try RequestURL(clock.url))
            var total = 0
            for try await chunk in response.body {
                if total < 64 * chunk.count {
                    for _ in 0..<10 { _ = try await bench.transport.send(tick) }
                }
                total += chunk.count
                lead.read(chunk.count)
            }
            #expect(total == Self.size)
            #expect(lead.maximum < Self.limit)
        }
    }

    @Test("A stream that nobody reads does not block the others on its connection")
    func heldStream() async throws {
        let lead = Lead()
        var options = HTTP2Server.Options()
        options.onWritten = { lead.wrote($0) }
        try await TestBench.secure(
            options,
            handler: { request in
                request.path == "/held" ? .bytes(StreamBody(fillerCount: Self.size)) : .text("other")
            }
        ) { bench in
            try await bench.text("/other")
            let held = try await bench.transport.send(bench.request("/held") { $0.delivery = .streamed })
            for _ in 0..<50 { #expect(try await bench.text("/other") == "other") }
            #expect(lead.written < Self.limit)
            let total = try await held.body.reduce(0) { $0 + $1.count }
            #expect(total == Self.size)
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("The rest of an abandoned body reaches no other request")
    func leftover() async throws {
        let lead = Lead()
        var options = HTTP2Server.Options()
        options.onWritten = { lead.wrote($0) }
        try await TestBench.plain(
            options,
            handler: { request in
                request.path == "/large" ? .bytes(StreamBody(fillerCount: Self.size)) : .text("small")
            }
        ) { bench in
            let clock = try LoopbackServer { _ in .response(body: "tick") }
            defer { clock.stop() }
            let tick = TransportRequest(.get, try RequestURL(clock.url))
            func request(_ path: String) throws -> TransportRequest {
                try bench.request(path) { ($0.delivery, $0.protocolVersion) = (.streamed, .http2) }
            }
            for _ in 0..<3 {
                let response = try await bench.transport.send(request("/large"))
                // Wait until the server can send no more.
                var before = -1
                while lead.written != before {
                    before = lead.written
                    for _ in 0..<20 { _ = try await bench.transport.send(tick) }
                }
                if case .stream(let source) = response.body.content { source.cancel() }
                for _ in 0..<3 {
                    let body = try await bench.transport.send(request("/small")).body.collect(upTo: 10)
                    #expect(String(decoding: body, as: UTF8.self) == "small")
                }
            }
        }
    }

    @Test("The engine rests while an upload waits for the peer's window")
    func heldUpload() async throws {
        var options = HTTP2Server.Options()
        options.readsRequests = false
        try await TestBench.secure(options, handler: { _ in .text("never") }) { bench in
            let upload = try bench.request("/", method: .post, body: .bytes(Data(count: 1 << 20)))
            let task = Task { await bench.failure(of: upload) }
            // Before the window is full, the engine may also rest because the server is slow.
            while bench.transport.mutes == 0 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await restlessness(of: bench.transport) <= 5)
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
        }
    }

    /// The engine's turns in 10 ms at rest, when it has one turn for its timer and three for writable sockets. The
    /// turns are divided by the time that has really passed. The lowest of several results counts, because a request
    /// begins with work.
    private func restlessness(of transport: CurlTransport) async throws -> Double {
        var least = Double.infinity
        for _ in 0..<20 where least > 5 {
            let before = transport.turns
            let start = ContinuousClock.now
            try await Task.sleep(for: .milliseconds(100))
            let periods = start.duration(to: .now) / .milliseconds(10)
            if before > 0 { least = min(least, Double(transport.turns - before) / periods) }
        }
        return least
    }

    /// A request body of one piece that ends when the gate is open.
    private func body(until gate: LoopbackGate) -> RequestBody {
        let pieces = Atomic(0)
        let source = AsyncStream<Data> {
            if pieces.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { return Data("piece".utf8) }
            await gate.opened()
            return nil
        }
        return .stream(source, length: nil)
    }

    @Test("A response can arrive before the request's body ends, and the engine rests while the body has no bytes")
    func answeredEarly() async throws {
        var options = HTTP2Server.Options()
        options.answersHeads = true
        try await TestBench.secure(options, handler: { _ in .text("early") }) { bench in
            let gate = LoopbackGate()
            defer { gate.open() }
            let sent = try bench.request("/", method: .post, body: body(until: gate)) { $0.delivery = .streamed }
            let response = try await bench.transport.send(sent)
            #expect(response.status == 200)
            #expect(try await restlessness(of: bench.transport) <= 5)
            gate.open()
            #expect(try await response.body.collect(upTo: 100) == Data("early".utf8))
        }
    }

    @Test(
        "A response that ends before the request's body succeeds, and the connection is kept",
        arguments: [1, 5_000, 4 << 20])
    func overEarly(size: Int) async throws {
        var options = HTTP2Server.Options()
        options.answersHeads = true
        try await TestBench.secure(options, handler: { _ in .text("early") }) { bench in
            let data = Data(count: size)
            for delivery in [TransportOptions.Delivery.collected(upTo: 100), .streamed] {
                let source = AsyncStream<Data> {
                    $0.yield(data)
                    $0.finish()
                }
                for body in [RequestBody.bytes(data), .stream(source, length: size)] {
                    let sent = try bench.request("/", method: .post, body: body) { $0.delivery = delivery }
                    let response = try await bench.transport.send(sent)
                    #expect(try await response.body.collect(upTo: 100) == Data("early".utf8))
                }
            }
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("An error response ends an upload that has no bytes to send")
    func refusedEarly() async throws {
        var options = HTTP2Server.Options()
        options.answersHeads = true
        let reply = StreamReply(status: 413, body: StreamBody(Array("no".utf8)))
        try await TestBench.secure(options, handler: { _ in reply }) { bench in
            let gate = LoopbackGate()
            defer { gate.open() }
            for delivery in [TransportOptions.Delivery.collected(upTo: 100), .streamed] {
                let sent = try bench.request("/", method: .post, body: body(until: gate)) { $0.delivery = delivery }
                let response = try await bench.transport.send(sent)
                #expect(response.status == 413)
                #expect(try await response.body.collect(upTo: 100) == Data("no".utf8))
            }
        }
    }
}
