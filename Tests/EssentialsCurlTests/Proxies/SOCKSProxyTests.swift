import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A request through a SOCKS proxy", .serialized)
struct SOCKSProxyTests {
    /// Resolves `origin.test` to 127.0.0.1 on this machine.
    private func overriding(_ configuration: inout CurlTransport.Configuration, _ ports: [UInt16]) throws {
        for port in ports {
            try configuration.addressOverrides.append(
                .init(host: HostName("origin.test"), port: port, address: HostName("127.0.0.1")))
        }
    }

    @Test("A SOCKS proxy of the kind socks5h receives the name of the host", arguments: ["http", "https"])
    func namesThere(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server =
            try scheme == "http"
            ? LoopbackServer { .response(body: $0.target) } : ours.server { .response(body: $0.target) }
        let proxy = try SOCKSTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy(.socks5h)), trust: ours.policy())
        #expect(try await transport.send(get("\(scheme)://origin.test/a?b")).text == "/a?b")
        #expect(
            proxy.requests == [.init(kind: 3, host: "origin.test", port: scheme == "http" ? 80 : 443, credentials: nil)]
        )
        #expect(server.requests.first?.header("Host") == "origin.test")
        #expect(server.requests.first?.headers.contains { $0.name.lowercased().hasPrefix("proxy-") } == false)
    }

    @Test("A SOCKS proxy of the kind socks5 receives the address of the host", arguments: ["http", "https"])
    func namesHere(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server =
            try scheme == "http"
            ? LoopbackServer { .response(body: $0.target) } : ours.server { .response(body: $0.target) }
        let proxy = try SOCKSTestProxy()
        let transport = try transport(.fixed(proxy.proxy(.socks5)), trust: ours.policy()) {
            try? overriding(&$0, [server.port])
        }
        #expect(try await transport.send(get("\(scheme)://origin.test:\(server.port)/a?b")).text == "/a?b")
        #expect(proxy.requests == [.init(kind: 1, host: "127.0.0.1", port: server.port, credentials: nil)])
    }

    @Test("A SOCKS proxy of the kind socks5 does not receive the name of a host without an address")
    func unresolvable() async throws {
        let proxy = try SOCKSTestProxy()
        let transport = try transport(.fixed(proxy.proxy(.socks5)))
        let found = await failure { try await transport.send(get("http://no-such-host.invalid/")) }
        #expect(found?.reason == .nameResolution || found?.reason == .proxy, "\(String(describing: found))")
        #expect(found?.message.contains("no-such-host.invalid") == true)
        #expect(proxy.requests.isEmpty)
    }

    @Test("A SOCKS proxy receives addresses as addresses", arguments: [Proxy.Kind.socks5, .socks5h])
    func addresses(kind: Proxy.Kind) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let six = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.7"
        let proxy = try SOCKSTestProxy(ports: ["192.0.2.1": server.port, six: server.port])
        let transport = try transport(.fixed(proxy.proxy(kind)))
        #expect(try await transport.send(get("http://192.0.2.1/")).text == "ok")
        #expect(try await transport.send(get("http://[2001:db8::7]:81/")).text == "ok")
        #expect(
            proxy.requests == [
                .init(kind: 1, host: "192.0.2.1", port: 80, credentials: nil),
                .init(kind: 4, host: six, port: 81, credentials: nil),
            ])
    }

    @Test("A SOCKS proxy's credentials are shown only to the proxy", arguments: [Proxy.Kind.socks5, .socks5h])
    func credentials(kind: Proxy.Kind) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let proxy = try SOCKSTestProxy(
            ports: ["origin.test": server.port], credentials: "\(proxyUser):\(proxyPassword)")
        let transport = try transport(.fixed(proxy.proxy(kind, user: proxyUser, password: proxyPassword))) {
            try? overriding(&$0, [server.port])
        }
        #expect(try await transport.send(get("http://origin.test:\(server.port)/")).text == "ok")
        #expect(proxy.requests.map(\.credentials) == ["\(proxyUser):\(proxyPassword)"])
        #expect(!proxy.tunnelled.holds("agent") && !proxy.tunnelled.holds("s3cret") && !proxy.tunnelled.holds("Basic"))
    }

    @Test("A request through a SOCKS proxy can have a body")
    func body() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { .response(body: $0.body) }
        let proxy = try SOCKSTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let response = try await transport.send(
            TransportRequest(.post, RequestURL("https://origin.test/"), body: .bytes(bytes)))
        #expect(response.body.data == bytes)
    }

    @Test("Wrong or missing SOCKS credentials fail as `proxy`", arguments: [true, false])
    func wrongCredentials(given: Bool) async throws {
        let proxy = try SOCKSTestProxy(credentials: "other:other")
        let through = try given ? proxy.proxy(user: proxyUser, password: proxyPassword) : proxy.proxy()
        let transport = try transport(.fixed(through))
        let found = await failure { try await transport.send(get("https://origin.test/")) }
        #expect(found?.reason == .proxy, "\(String(describing: found))")
        #expect(found?.showsNoCredentials == true)
        #expect(proxy.requests.isEmpty)
        #expect(proxy.refusedCredentials == (given ? 1 : 0))
    }

    @Test("Each refusal of a SOCKS proxy fails as `proxy`", arguments: [1, 2, 3, 4, 5, 6, 7, 8, 99] as [UInt8])
    func refusals(code: UInt8) async throws {
        let proxy = try SOCKSTestProxy(manner: .replies(code))
        let transport = try transport(.fixed(proxy.proxy(user: proxyUser, password: proxyPassword)))
        let found = await failure { try await transport.send(get("https://origin.test/")) }
        #expect(found?.reason == .proxy, "\(String(describing: found))")
        #expect(found?.phase == .connect)
        #expect(found?.showsNoCredentials == true)
    }

    @Test("A SOCKS proxy that closes the connection or speaks another protocol fails as `proxy`")
    func garbage() async throws {
        let manners: [SOCKSTestProxy.Manner] = [
            .acceptsNoMethod, .closes, .says([4, 0]), .says(Array("HTTP/1.1 400 No\r\n\r\n".utf8)), .says([5, 9]),
        ]
        for manner in manners {
            let proxy = try SOCKSTestProxy(manner: manner)
            let transport = try transport(.fixed(proxy.proxy()))
            let found = await failure { try await transport.send(get("https://origin.test/")) }
            #expect(found?.reason == .proxy, "\(manner): \(String(describing: found))")
        }
    }

    @Test("Credentials that SOCKS cannot carry fail as `proxy`")
    func longCredentials() async throws {
        let proxy = try SOCKSTestProxy(credentials: "x:x")
        let long = String(repeating: "x", count: 256)
        for (user, password) in [(long, "x"), ("x", long)] {
            let transport = try transport(.fixed(proxy.proxy(user: user, password: password)))
            let found = await failure { try await transport.send(get("https://origin.test/")) }
            #expect(found?.reason == .proxy, "\(String(describing: found))")
            #expect(found?.allText.contains(long) == false)
        }
        #expect(proxy.requests.isEmpty)
    }

    @Test("Consecutive requests through a SOCKS proxy use one connection", arguments: ["http", "https"])
    func reuse(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server = try scheme == "http" ? LoopbackServer { _ in .response() } : ours.server { _ in .response() }
        let proxy = try SOCKSTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        for number in 0..<3 {
            #expect(try await transport.send(get("\(scheme)://origin.test/")).connection.isReused == (number > 0))
        }
        #expect(proxy.connectionCount == 1 && server.connectionCount == 1)
    }
}
