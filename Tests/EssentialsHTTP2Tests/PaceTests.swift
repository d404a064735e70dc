import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Synchronization
import Testing

@Suite("The pace of streamed bodies", .timeLimit(.minutes(2)))
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
    /// What may be on its way: libcurl's window of 32 MiB, the sockets' buffers, and the chunks before the reader.
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

    @Test("A stream that nobody reads leaves the others on its connection room")
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

    @Test("The engine rests while an upload waits for the peer's window")
    func heldUpload() async throws {
        var options = HTTP2Server.Options()
        options.readsRequests = false
        try await TestBench.secure(options, handler: { _ in .text("never") }) { bench in
            let upload = try bench.request("/", method: .post, body: .bytes(Data(count: 1 << 20)))
            let task = Task { await bench.failure(of: upload) }
            // At rest it looks again every 10 ms, with a turn for the time and three for what is writable. Counted against
            // the time that has really passed, and looked for, because the upload begins with work.
            var restless = Double.infinity
            for _ in 0..<20 where restless > 5 {
                let before = bench.transport.turns
                let start = ContinuousClock.now
                try await Task.sleep(for: .milliseconds(100))
                let periods = start.duration(to: .now) / .milliseconds(10)
                if before > 0 { restless = min(restless, Double(bench.transport.turns - before) / periods) }
            }
            #expect(restless <= 5)
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
        }
    }
}
