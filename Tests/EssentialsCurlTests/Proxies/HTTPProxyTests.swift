import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A request through an HTTP proxy", .serialized)
struct HTTPProxyTests {
    @Test("A request for http through a proxy is in absolute form, with the origin's Host")
    func absoluteForm() async throws {
        let server = try LoopbackServer { .response(body: "\($0.method) \($0.target)") }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()))
        let response = try await transport.send(get("http://origin.test/a%20b?x=1"))
        #expect(response.text == "GET /a%20b?x=1")
        #expect(proxy.lines == ["GET http://origin.test/a%20b?x=1 HTTP/1.1"])
        #expect(proxy.requests.first?.values("Host") == ["origin.test"])
        #expect(server.requests.first?.header("Host") == "origin.test")
        #expect(server.requests.first?.header("Via") == "1.1 test")
        let ported = try await transport.send(get("http://origin.test:8080/"))
        #expect(ported.status == .ok)
        #expect(proxy.lines.last == "GET http://origin.test:8080/ HTTP/1.1")
        #expect(proxy.requests.last?.values("Host") == ["origin.test:8080"])
    }

    @Test("A request for http through a proxy can have a body of known or unknown length")
    func plainBodies() async throws {
        let server = try LoopbackServer { .response(body: $0.body) }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()))
        let url = try RequestURL("http://origin.test/")
        let bytes = Data((0..<200_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        for body in [RequestBody.bytes(Data("short".utf8)), .bytes(bytes), streamed(bytes)] {
            let response = try await transport.send(TransportRequest(.post, url, body: body))
            #expect(response.status == .ok)
        }
        #expect(server.requests.map { Data($0.body) } == [Data("short".utf8), bytes, bytes])
    }

    @Test("A request for https through a proxy can have a body")
    func tunnelledBodies() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { .response(body: $0.body) }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        let url = try RequestURL("https://origin.test/")
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        for body in [RequestBody.bytes(Data("short".utf8)), .bytes(bytes), streamed(bytes)] {
            #expect(try await transport.send(TransportRequest(.post, url, body: body)).status == .ok)
        }
        #expect(server.requests.map { Data($0.body) } == [Data("short".utf8), bytes, bytes])
        #expect(proxy.lines == ["CONNECT origin.test:443 HTTP/1.1"])
    }

    @Test("A request for https shows the proxy only host and port")
    func tunnel() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { .response(body: "seen \($0.target)") }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        var sent = try get("https://origin.test/hidden-path?hidden-query")
        sent.headerFields[.authorization] = "Bearer hidden-token"
        sent.headerFields[.cookie] = "hidden-cookie=1"
        let response = try await transport.send(sent)
        #expect(response.text == "seen /hidden-path?hidden-query")
        #expect(response.connection.tlsVersion == "TLSv1.3")
        // The proxy's response belongs to the tunnel, and not to the request's response.
        #expect(response.informational.isEmpty)
        #expect(response.headerFields.allSatisfy { $0.name.canonicalName != "proxy-note" })
        #expect(proxy.lines == ["CONNECT origin.test:443 HTTP/1.1"])
        let seen = try #require(proxy.requests.first)
        #expect(seen.values("Host") == ["origin.test:443"])
        #expect(!seen.fields.joined().contains("hidden"))
        #expect(!proxy.tunnelled.isEmpty && !proxy.tunnelled.holds("hidden"))
        // A TLS record of the handshake (RFC 8446, 5.1).
        #expect(proxy.tunnelled.first == 22)
        #expect(server.requests.first?.headers.contains { $0.name.lowercased().hasPrefix("proxy-") } == false)
    }

    @Test("A request with a body reaches an IPv6 address through a tunnel")
    func addressAuthority() async throws {
        let ours = try Authority(.init(commonName: "six", dnsNames: [], ipAddresses: ["2001:db8::7"]))
        let server = try ours.server { _ in .response(body: "ok") }
        let proxy = try HTTPTestProxy(ports: ["[2001:db8::7]": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        #expect(try await transport.send(get("https://[2001:db8::7]:8443/")).text == "ok")
        #expect(proxy.lines == ["CONNECT [2001:db8::7]:8443 HTTP/1.1"])
    }

    @Test("The peer's address is the proxy's", arguments: ["http", "https"])
    func peer(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server = try scheme == "http" ? LoopbackServer { _ in .response() } : ours.server { _ in .response() }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        let response = try await transport.send(get("\(scheme)://origin.test/"))
        #expect(response.connection.peerAddress == "127.0.0.1")
        #expect(response.connection.peerPort == proxy.port)
    }

    @Test("A request through a proxy that insists on HTTP/2 without TLS is refused")
    func insistingOnHTTP2() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()))
        var sent = try get("http://origin.test/")
        sent.options.protocolVersion = .http2
        let found = await failure { try await transport.send(sent) }
        #expect(found != nil)
        #expect(server.requestCount == 0)
    }

    /// A body without a known length.
    private func streamed(_ bytes: Data) -> RequestBody {
        .stream(
            AsyncStream { continuation in
                for start in stride(from: 0, to: bytes.count, by: 30_000) {
                    continuation.yield(bytes[start..<min(start + 30_000, bytes.count)])
                }
                continuation.finish()
            }, length: nil)
    }
}

@Suite("A trust policy through a tunnel", .serialized)
struct TunnelTrustTests {
    /// Sends a secret to `https://origin.test` through a proxy, and checks that it was not revealed.
    private func expectRefusal(
        _ reason: RequestFailure.Reason, _ server: LoopbackServer, _ policy: TrustPolicy
    ) async throws {
        let ports = ["origin.test": server.port]
        let proxies = try (HTTPTestProxy(ports: ports), SOCKSTestProxy(ports: ports))
        for proxy in try [proxies.0.proxy(), proxies.1.proxy()] {
            let transport = try transport(.fixed(proxy), trust: policy)
            let sent = TransportRequest(
                .post, try RequestURL("https://origin.test/"), body: .bytes(Data("secret".utf8)))
            let found = await failure { try await transport.send(sent) }
            #expect(found?.reason == reason, "\(String(describing: found))")
            #expect(found?.host == "origin.test")
            await transport.shutdown()
        }
        #expect(proxies.0.lines == ["CONNECT origin.test:443 HTTP/1.1"])
        #expect(proxies.1.requests.map(\.host) == ["origin.test"])
        #expect(!proxies.0.tunnelled.holds("secret") && !proxies.1.tunnelled.holds("secret"))
        #expect(server.applicationBytesReceived == 0)
    }

    @Test("The origin's pin is accepted through a tunnel")
    func rightPin() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { _ in .response(body: "ok") }
        let policy = try ours.policy(pins: [strangePin(), .publicKey(ours.leaf.publicKeyPin)])
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let socks = try SOCKSTestProxy(ports: ["origin.test": server.port])
        for proxy in try [proxy.proxy(), socks.proxy()] {
            let transport = try transport(.fixed(proxy), trust: policy)
            for _ in 0..<2 { #expect(try await transport.send(get("https://origin.test/")).text == "ok") }
        }
    }

    @Test("Nothing is sent through a tunnel if no pin matches")
    func wrongPin() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { _ in .response() }
        try await expectRefusal(.pinMismatch, server, ours.policy(pins: [strangePin(), strangePin(8)]))
    }

    @Test("A certificate for another name, or for the proxy's, is refused through a tunnel")
    func otherName() async throws {
        let ours = try Authority(.init(commonName: "other", dnsNames: ["other.test"], ipAddresses: ["127.0.0.1"]))
        let server = try ours.server { _ in .response() }
        try await expectRefusal(.trustHost, server, ours.policy())
    }

    @Test("A chain to another anchor is refused through a tunnel")
    func otherAnchor() async throws {
        let (ours, theirs) = try (Authority.originTest(), Authority.originTest())
        let server = try theirs.server { _ in .response() }
        try await expectRefusal(.trustChain, server, ours.policy())
    }

    @Test("A pinned host receives no plain request through a proxy")
    func plaintext() async throws {
        let proxy = try HTTPTestProxy()
        let transport = try transport(.fixed(proxy.proxy()), trust: TrustPolicy(pins: [strangePin(), strangePin(8)]))
        let found = await failure { try await transport.send(get("http://origin.test/")) }
        #expect(found?.reason == .plaintextRefused)
        #expect(proxy.connectionCount == 0)
    }

    @Test("A server without TLS at the end of a tunnel is refused")
    func noTLS() async throws {
        let server = try LoopbackServer { _ in .response() }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()))
        let found = await failure { try await transport.send(get("https://origin.test/")) }
        #expect(found?.reason == .tls, "\(String(describing: found))")
        #expect(server.requestCount == 0)
    }
}
