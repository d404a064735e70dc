import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Protocol negotiation", .timeLimit(.minutes(5)))
struct NegotiationTests {
    /// The ALPN protocols of servers without HTTP/2.
    private static let protocolsWithoutHTTP2: [[String]] = [["http/1.1"], []]

    @Test(
        "HTTP/2 is spoken with a server that offers it",
        arguments: [TransportOptions.ProtocolVersion.automatic, .http2])
    func offered(_ version: TransportOptions.ProtocolVersion) async throws {
        try await TestBench.secure(handler: { .text("\($0.method) \($0.path)") }) { bench in
            let response = try await bench.transport.send(
                bench.request("/hello?a=1") { $0.protocolVersion = version })
            #expect(response.status == .ok)
            #expect(response.body.data == Data("GET /hello?a=1".utf8))
            #expect(response.connection.protocolName == "HTTP/2")
            #expect(response.connection.tlsVersion == "TLSv1.3")
            #expect(bench.server.record.protocols == ["h2"])
        }
    }

    @Test("A server without HTTP/2 gets HTTP/1.1 unless the request demands HTTP/2")
    func notOffered() async throws {
        var options = HTTP2Server.Options()
        options.applicationProtocols = ["http/1.1"]
        try await TestBench.secure(options, handler: { _ in .text("old") }) { bench in
            let response = try await bench.transport.send(bench.request())
            #expect(response.connection.protocolName == "HTTP/1.1")
            #expect(bench.server.record.protocols == ["http/1.1"])
        }
    }

    @Test("A request for HTTP/1.1 does not offer HTTP/2")
    func onlyHTTP1() async throws {
        try await TestBench.secure(handler: { _ in .text("old") }) { bench in
            let response = try await bench.transport.send(bench.request { $0.protocolVersion = .http1 })
            #expect(response.connection.protocolName == "HTTP/1.1")
            #expect(bench.server.record.protocols == ["http/1.1"])
        }
    }

    @Test("A request for HTTP/1.1 leaves a kept HTTP/2 connection alone")
    func onlyHTTP1AfterHTTP2() async throws {
        try await TestBench.secure(handler: { _ in .text("either") }) { bench in
            var names: [String] = []
            for version in [TransportOptions.ProtocolVersion.http2, .http1, .http2, .http1] {
                let response = try await bench.transport.send(bench.request { $0.protocolVersion = version })
                names.append(response.connection.protocolName)
            }
            #expect(names == ["HTTP/2", "HTTP/1.1", "HTTP/2", "HTTP/1.1"])
            #expect(bench.server.record.protocols == ["h2", "http/1.1"])
        }
    }

    @Test("A request that demands HTTP/2 does not use a kept HTTP/1.1 connection")
    func demandedBesideHTTP1() async throws {
        try await TestBench.secure(handler: { _ in .text("either") }) { bench in
            let old = try await bench.transport.send(bench.request { $0.protocolVersion = .http1 })
            #expect(old.connection.protocolName == "HTTP/1.1")
            let new = try await bench.transport.send(bench.request { $0.protocolVersion = .http2 })
            #expect(new.connection.protocolName == "HTTP/2")
            #expect(bench.server.record.protocols == ["http/1.1", "h2"])
        }
    }

    @Test("A request that demands HTTP/2 sends nothing to a server without it", arguments: protocolsWithoutHTTP2)
    func demandedButNotOffered(_ protocols: [String]) async throws {
        let identity = try TestIdentity.shared()
        let tls = ServerTLS(certificate: identity.certificate, alpn: protocols)
        let server = try LoopbackServer(tls: tls) { _ in .response(body: "old") }
        defer { server.stop() }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: identity.anchors()))
        var request = TransportRequest(.post, try RequestURL(server.url), body: .bytes(Data("secret".utf8)))
        request.options.protocolVersion = .http2
        let failure = await #expect(throws: RequestFailure.self) { try await transport.send(request) }
        await transport.shutdown()
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.phase == .handshake)
        #expect(server.requestCount == 0)
        #expect(server.applicationBytesReceived == 0)
    }

    @Test("A kept connection to a server without HTTP/2 does not serve a request that demands it")
    func demandedAfterHTTP1() async throws {
        let identity = try TestIdentity.shared()
        let tls = ServerTLS(certificate: identity.certificate, alpn: ["http/1.1"])
        let server = try LoopbackServer(tls: tls) { _ in .response(body: "old") }
        defer { server.stop() }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: identity.anchors()))
        var request = TransportRequest(.get, try RequestURL(server.url))
        let first = try await transport.send(request)
        #expect(first.connection.protocolName == "HTTP/1.1")
        request.options.protocolVersion = .http2
        let failure = await #expect(throws: RequestFailure.self) { try await transport.send(request) }
        await transport.shutdown()
        #expect(failure?.reason == .protocolViolation)
        #expect(server.requestCount == 1)
    }
}

@Suite("HTTP/2 without TLS", .timeLimit(.minutes(5)))
struct PriorKnowledgeTests {
    @Test("HTTP/2 without TLS is spoken by prior knowledge if the request demands it")
    func demanded() async throws {
        try await TestBench.plain(handler: { .text("\($0.method) \($0.path)") }) { bench in
            let response = try await bench.transport.send(bench.request("/plain") { $0.protocolVersion = .http2 })
            #expect(response.body.data == Data("GET /plain".utf8))
            #expect(response.connection.protocolName == "HTTP/2")
            #expect(response.connection.tlsVersion == nil)
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("Sequential requests over HTTP/2 without TLS all succeed")
    func sequence() async throws {
        try await TestBench.plain(handler: { .text($0.path) }) { bench in
            for number in 0..<3 {
                let request = try bench.request("/\(number)") { $0.protocolVersion = .http2 }
                let response = try await bench.transport.send(request)
                #expect(response.body.data == Data("/\(number)".utf8))
            }
            #expect(bench.server.record.requestCount == 3)
        }
    }

    @Test("Concurrent requests over HTTP/2 without TLS all succeed")
    func concurrent() async throws {
        let all = Countdown(20)
        try await TestBench.plain(handler: { request in
            all.arrive()
            return .text(request.path, after: all.gate)
        }) { bench in
            let requests = try (0..<20).map { try bench.request("/\($0)") { $0.protocolVersion = .http2 } }
            let answers = try await bench.bodies(of: requests)
            #expect(answers == (0..<20).map { "/\($0)" })
            #expect(bench.server.record.requestCount == 20)
        }
    }

    @Test(
        "Without TLS, a request that does not demand HTTP/2 uses HTTP/1.1 and offers no upgrade",
        arguments: [TransportOptions.ProtocolVersion.automatic, .http1])
    func notDemanded(_ version: TransportOptions.ProtocolVersion) async throws {
        let server = try LoopbackServer { _ in .response(body: "plain") }
        defer { server.stop() }
        let transport = try CurlTransport()
        var request = TransportRequest(.get, try RequestURL(server.url))
        request.options.protocolVersion = version
        let response = try await transport.send(request)
        await transport.shutdown()
        #expect(response.connection.protocolName == "HTTP/1.1")
        #expect(server.requests.first?.header("Upgrade") == nil)
        #expect(server.requests.first?.header("HTTP2-Settings") == nil)
    }

    @Test("A request that demands HTTP/2 is unreadable to a server with only HTTP/1.1")
    func notUnderstood() async throws {
        let server = try LoopbackServer { _ in .response(body: "plain") }
        defer { server.stop() }
        let transport = try CurlTransport()
        var request = TransportRequest(.post, try RequestURL(server.url + "/order"), body: .bytes(Data("one".utf8)))
        request.options.protocolVersion = .http2
        let failure = await #expect(throws: RequestFailure.self) { try await transport.send(request) }
        await transport.shutdown()
        // The reason depends on whether the engine sees the server's refusal or the closed connection first.
        #expect(failure?.reason == .protocolViolation || failure?.reason == .interrupted)
        #expect(!server.requests.contains { $0.path == "/order" })
        #expect(server.connectionCount == 1)
    }
}
