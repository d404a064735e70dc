import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The route of a request", .serialized)
struct ProxyRouteTests {
    @Test("A connection through an HTTP proxy is kept for the next request", arguments: ["http", "https"])
    func reuse(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server = try scheme == "http" ? LoopbackServer { _ in .response() } : ours.server { _ in .response() }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(
            .fixed(proxy.proxy(user: proxyUser, password: proxyPassword)), trust: ours.policy())
        for number in 0..<3 {
            #expect(try await transport.send(get("\(scheme)://origin.test/")).connection.isReused == (number > 0))
        }
        #expect(proxy.connectionCount == 1)
        #expect(proxy.requests.count == (scheme == "http" ? 3 : 1))
        #expect(server.requestCount == 3)
    }

    @Test("A request never uses the connection of another route, proxied or direct", arguments: ["http", "https"])
    func separation(scheme: String) async throws {
        let ours = try Authority(.init(commonName: "localhost"))
        let server =
            try scheme == "http"
            ? LoopbackServer { _ in .response(body: "ok") } : ours.server { _ in .response(body: "ok") }
        let ports = ["localhost": server.port]
        let (first, second) = try (HTTPTestProxy(ports: ports), HTTPTestProxy(ports: ports))
        let socks = try SOCKSTestProxy(ports: ports)
        let routes: [String: Proxy] = try [
            "first": first.proxy(), "second": second.proxy(), "socks5h": socks.proxy(.socks5h),
            "socks5": socks.proxy(.socks5), "user": socks.proxy(.socks5, user: "a", password: "b"),
        ]
        let choice = Choice("")
        let transport = try transport(.deciding { _ in routes[choice.name] }, trust: ours.policy())
        var counts: [String: Int] = [:]
        for round in 0..<3 {
            for route in ["first", "direct", "second", "socks5h", "socks5", "user"] {
                choice.name = route
                let response = try await transport.send(get("\(scheme)://localhost:\(server.port)/"))
                #expect(response.text == "ok")
                #expect(response.connection.isReused == (round > 0), "\(route)")
                let peer = routes[route]?.port ?? server.port
                #expect(response.connection.peerPort == peer, "\(route)")
                counts[route, default: 0] += 1
            }
        }
        #expect(first.connectionCount == 1 && second.connectionCount == 1)
        #expect(socks.connectionCount == 3)
        #expect(server.requestCount == 18)
        #expect(counts.values.allSatisfy { $0 == 3 })
    }

    @Test("A request to a host of the bypass is direct")
    func bypass() async throws {
        let server = try LoopbackServer { _ in .response(body: "direct") }
        let behind = try LoopbackServer { _ in .response(body: "proxied") }
        let proxy = try HTTPTestProxy(ports: ["origin.test": behind.port])
        let transport = try transport(
            .fixed(proxy.proxy(user: proxyUser, password: proxyPassword), except: ProxyBypass("127.0.0.0/8")))
        #expect(try await transport.send(get("http://origin.test/")).text == "proxied")
        #expect(try await transport.send(request(server)).text == "direct")
        #expect(try await transport.send(get("http://origin.test/")).text == "proxied")
        #expect(proxy.lines.count == 2)
        let fields = server.requests.flatMap(\.headers)
        #expect(!fields.contains { $0.name.lowercased().hasPrefix("proxy-") || $0.value.contains("Basic") })
    }

    @Test("The proxy is chosen for each host")
    func deciding() async throws {
        let server = try LoopbackServer { .response(body: $0.header("Host") ?? "") }
        let ports = ["a.test": server.port, "b.test": server.port]
        let (first, second) = try (HTTPTestProxy(ports: ports), SOCKSTestProxy(ports: ports))
        let routes = try ["a.test": first.proxy(), "b.test": second.proxy()]
        let transport = try transport(.deciding { routes[$0.host.text] })
        #expect(try await transport.send(get("http://a.test/")).text == "a.test")
        #expect(try await transport.send(get("http://b.test/")).text == "b.test")
        #expect(try await transport.send(request(server)).text == "127.0.0.1:\(server.port)")
        #expect(first.lines == ["GET http://a.test/ HTTP/1.1"])
        #expect(second.requests.map(\.host) == ["b.test"])
    }

    @Test("A proxy policy that throws fails the request as `proxy` with its error, and nothing is sent")
    func undecided() async throws {
        struct Undecided: Error {}
        let server = try LoopbackServer { _ in .response() }
        let transport = try transport(.deciding { _ in throw Undecided() })
        let found = await failure { try await transport.send(request(server)) }
        #expect(found?.reason == .proxy)
        #expect(found?.underlying is Undecided)
        #expect(found?.host == "127.0.0.1")
        #expect(server.connectionCount == 0)
    }

    @Test("The environment's proxy is read once and used")
    func environment() async throws {
        let ours = try Authority.originTest()
        let (plain, secure) = try (
            LoopbackServer { _ in .response(body: "plain") }, ours.server { _ in .response(body: "secure") }
        )
        let ports = ["origin.test": secure.port, "plain.test": plain.port]
        let (first, second) = try (HTTPTestProxy(ports: ports), SOCKSTestProxy(ports: ports))
        var variables = [
            "http_proxy": "http://\(proxyUser):s3cret%20pass@127.0.0.1:\(first.port)/",
            "HTTPS_PROXY": "socks5h://127.0.0.1:\(second.port)", "HTTP_PROXY": "http://127.0.0.1:1",
        ]
        let policy = try ProxyPolicy.environment.resolved { variables[$0] }
        variables = [:]
        let transport = try transport(policy, trust: ours.policy())
        #expect(try await transport.send(get("http://plain.test/")).text == "plain")
        #expect(try await transport.send(get("https://origin.test/")).text == "secure")
        // This machine's own addresses need no proxy.
        #expect(try await transport.send(request(plain)).text == "plain")
        #expect(first.lines == ["GET http://plain.test/ HTTP/1.1"])
        #expect(first.requests.first?.values("Proxy-Authorization") == [proxyAuthorization])
        #expect(second.requests.map(\.host) == ["origin.test"])
    }

    @Test("Many requests through several proxies are kept apart")
    func many() async throws {
        let server = try LoopbackServer { .response(body: "\($0.target) \($0.header("Host") ?? "")") }
        var ports: [String: UInt16] = [:]
        for number in 0..<8 { ports["host\(number).test"] = server.port }
        let proxies = try [HTTPTestProxy(ports: ports), HTTPTestProxy(ports: ports)]
        let through = try proxies.map { try $0.proxy(user: "user\($0.port)", password: "x") }
        let transport = try transport(
            .deciding { origin in through[origin.host.text.utf8.contains { $0 == UInt8(ascii: "3") } ? 1 : 0] }
        ) { $0.shards = 2 }
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let host = "host\(number % 8).test"
                    return try await transport.send(get("http://\(host)/\(number)")).text == "/\(number) \(host)"
                }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(answers == 200)
        for (proxy, isSecond) in zip(proxies, [false, true]) {
            let expected = "Basic " + Data("user\(proxy.port):x".utf8).base64EncodedString()
            #expect(proxy.requests.count == (isSecond ? 25 : 175))
            #expect(proxy.requests.allSatisfy { $0.values("Proxy-Authorization") == [expected] })
            #expect(proxy.lines.allSatisfy { $0.contains("host3.test") == isSecond })
        }
    }
}
