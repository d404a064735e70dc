import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A request on a dead connection")
struct ResendTests {
    /// Responds to the first request of each connection, reads the second one and drops the connection.
    private func dyingServer() throws -> LoopbackServer {
        try LoopbackServer { $0.numberOnConnection == 0 ? .response(body: "fine") : .close }
    }

    @Test(
        "An idempotent request on a dead connection is sent a second time",
        arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
    func idempotent(name: String) async throws {
        let server = try dyingServer()
        let transport = try CurlTransport()
        let method = try #require(HTTPRequest.Method(rawValue: name))
        _ = try await transport.send(request(server))
        let response = try await transport.send(request(method, server, "/again"))
        #expect(response.status == .ok)
        #expect(response.metrics.sendings == 2)
        #expect(server.requests.filter { $0.path == "/again" }.count == 2)
    }

    @Test(
        "A request that is not idempotent is never sent a second time", arguments: ["POST", "PATCH", "LOCK"],
        [true, false])
    func notIdempotent(name: String, hasBody: Bool) async throws {
        let server = try dyingServer()
        let transport = try CurlTransport()
        let method = try #require(HTTPRequest.Method(rawValue: name))
        _ = try await transport.send(request(server))
        let body: RequestBody = hasBody ? .bytes(Data("payment".utf8)) : .none
        let sent = try request(method, server, "/once", body: body)
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .interrupted)
        #expect(server.requests.filter { $0.path == "/once" }.count == 1)
        #expect(try await transport.send(request(server)).text == "fine")
    }

    @Test("A request is not sent a third time")
    func bounded() async throws {
        let server = try LoopbackServer { $0.path == "/" ? .response(body: "fine") : .close }
        let transport = try CurlTransport()
        // There are two pooled connections, so that a second attempt can use another dead one.
        async let first = transport.send(request(server))
        async let second = transport.send(request(server))
        _ = try await (first, second)
        let sent = try request(server, "/never")
        #expect(await failure { try await transport.send(sent) }?.reason == .interrupted)
        #expect(server.requests.filter { $0.path == "/never" }.count <= 2)
    }

    @Test("A request is sent a second time even if earlier requests were")
    func often() async throws {
        let server = try dyingServer()
        let transport = try CurlTransport()
        for number in 0..<40 {
            let response = try await transport.send(request(server, "/\(number)"))
            #expect(response.text == "fine", "request \(number)")
        }
        #expect(server.connectionCount >= 20)
    }

    @Test("A streamed body that cannot be read again is not sent a second time")
    func streamed() async throws {
        let server = try dyingServer()
        let transport = try CurlTransport()
        _ = try await transport.send(request(server))
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
        let sent = try request(.put, server, "/stream", body: .stream(pieces, length: 4))
        #expect(await failure { try await transport.send(sent) }?.reason == .interrupted)
        #expect(server.requests.filter { $0.path == "/stream" }.count == 1)
    }
}
