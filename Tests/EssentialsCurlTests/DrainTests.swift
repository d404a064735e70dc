import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A streamed body that is dropped")
struct DrainTests {
    /// Requests a streamed body, reads at most one piece of it, and drops it.
    private func drop(_ transport: CurlTransport, _ sent: TransportRequest, reads: Bool = false) async throws {
        var sent = sent
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        if reads {
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
        }
    }

    @Test(
        "A dropped body with a short rest leaves its connection for the next request", arguments: [false, true],
        [false, true])
    func little(isChunked: Bool, reads: Bool) async throws {
        let body = [UInt8](repeating: 1, count: 30_000)
        let server = try LoopbackServer { request in
            request.path == "/next"
                ? .response(body: "next") : isChunked ? .chunked(chunks: [body, body]) : .response(body: body)
        }
        let transport = try CurlTransport()
        try await drop(transport, request(server), reads: reads)
        while await transport.load.inFlight > 0 { await Task.yield() }
        #expect(try await transport.send(request(server, "/next")).text == "next")
        #expect(server.connectionCount == 1)
        await transport.shutdown()
    }

    @Test(
        "A dropped body with a long rest closes its connection, whether or not its length is known",
        arguments: [false, true])
    func much(isChunked: Bool) async throws {
        let body = [UInt8](repeating: 1, count: 20_000_000)
        let server = try LoopbackServer { request in
            request.path == "/next"
                ? .response(body: "next") : isChunked ? .chunked(chunks: [body]) : .response(body: body)
        }
        let transport = try CurlTransport()
        try await drop(transport, request(server))
        while await transport.load.inFlight > 0 { await Task.yield() }
        #expect(try await transport.send(request(server, "/next")).text == "next")
        #expect(server.connectionCount == 2)
        await transport.shutdown()
    }

    @Test("A dropped body without an end is read for at most a second")
    func endless() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "100")]), .text("x"), .hang])
        }
        let transport = try CurlTransport()
        try await drop(transport, request(server))
        while await transport.load.inFlight > 0 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test("A dropped body is not read any further if the request's options say so")
    func never() async throws {
        let server = try LoopbackServer { _ in .response(body: "four") }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.drainLimit = 0
        sent.options.delivery = .streamed
        _ = try await transport.send(sent)
        while await transport.load.inFlight > 0 { await Task.yield() }
        sent.options.delivery = .collected(upTo: 10)
        #expect(try await transport.send(sent).text == "four")
        #expect(server.requestCount == 2)
        await transport.shutdown()
    }

    @Test("A body that a cancelled task drops ends at once")
    func cancelled() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "100")]), .text("x"), .waitForPeerClose])
        }
        let transport = try CurlTransport()
        let reader = Task { () -> RequestFailure? in
            await failure {
                var sent = try request(server)
                sent.options.delivery = .streamed
                let response = try await transport.send(sent)
                gate.open()
                return try await response.body.collect(upTo: 1_000)
            }
        }
        await gate.opened()
        reader.cancel()
        #expect(await reader.value?.reason == .cancelled)
        while server.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        await transport.shutdown()
    }
}
