import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A proxy that fails", .serialized)
struct ProxyFaultTests {
    /// The failure of a request through a proxy.
    private func ending(
        of url: String = "https://origin.test/?hidden-query", through proxy: Proxy,
        connectTimeout: Duration = .seconds(10)
    ) async throws -> RequestFailure? {
        let transport = try transport(.fixed(proxy))
        var sent = try get(url)
        sent.options.connectTimeout = connectTimeout
        let request = sent
        let found = await failure { try await transport.send(request) }
        await transport.shutdown()
        #expect(found?.showsNoCredentials != false)
        #expect(found?.allText.contains("hidden-query") != true)
        return found
    }

    @Test(
        "A proxy that refuses a tunnel fails as `proxy` with its status",
        arguments: [400, 403, 404, 500, 502, 503, 301])
    func refused(status: Int) async throws {
        let proxy = try HTTPTestProxy(manner: .refuses(status))
        let found = try await ending(through: proxy.proxy(user: proxyUser, password: proxyPassword))
        #expect(found?.reason == .proxy)
        #expect(found?.message.contains("\(status)") == true, "\(String(describing: found))")
        #expect(found?.phase == .connect)
        #expect(proxy.requests.count == 1)
    }

    @Test("A proxy that closes the connection fails as `proxy`")
    func closes() async throws {
        let proxy = try HTTPTestProxy(manner: .closes)
        let found = try await ending(through: proxy.proxy())
        #expect(found?.reason == .proxy, "\(String(describing: found))")
        #expect(found?.phase == .connect)
    }

    @Test("An unreachable proxy fails as `proxy`", arguments: [Proxy.Kind.http, .socks5, .socks5h])
    func notListening(kind: Proxy.Kind) async throws {
        let proxy = try Proxy(
            kind, host: HostName("127.0.0.1"), port: deadPort(), user: proxyUser, password: proxyPassword)
        for url in ["https://origin.test/", "http://origin.test/"] {
            let found = try await ending(of: url, through: proxy)
            #expect(found?.reason == .proxy, "\(String(describing: found))")
            #expect(found?.message.contains(proxy.description) == true)
        }
    }

    @Test("A proxy without an address fails as `proxy`", arguments: [Proxy.Kind.http, .socks5, .socks5h])
    func unresolvable(kind: Proxy.Kind) async throws {
        let proxy = try Proxy(kind, host: HostName("no-such-proxy.invalid"), port: 3128)
        let found = try await ending(through: proxy, connectTimeout: .seconds(60))
        #expect(found?.reason == .proxy, "\(String(describing: found))")
        #expect(found?.message.contains("no-such-proxy.invalid") == true)
    }

    @Test("The connect deadline ends a CONNECT without a response")
    func hangs() async throws {
        let proxy = try HTTPTestProxy(manner: .hangs {})
        let found = try await ending(through: proxy.proxy(), connectTimeout: .milliseconds(200))
        #expect(found?.reason == .timeout, "\(String(describing: found))")
        #expect(found?.phase == .connect)
        #expect(proxy.lines.count == 1)
    }

    @Test("The connect deadline ends a wait for a SOCKS method")
    func socksHangs() async throws {
        let proxy = try SOCKSTestProxy(manner: .hangs {})
        let found = try await ending(through: proxy.proxy(), connectTimeout: .milliseconds(200))
        #expect(found?.reason == .timeout, "\(String(describing: found))")
        #expect(found?.phase == .connect)
    }

    @Test("The connect deadline ends a refusal with an endless body")
    func endlessRefusal() async throws {
        let proxy = try HTTPTestProxy(manner: .says("HTTP/1.1 403 No\r\nContent-Length: 1000000000\r\n\r\nno"))
        let found = try await ending(through: proxy.proxy(), connectTimeout: .milliseconds(300))
        #expect(found?.reason == .timeout || found?.reason == .proxy, "\(String(describing: found))")
    }

    static let answers = [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n", "\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 99 No\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 200_000) + "\r\n",
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "y", count: 1_000_000) + "\r\n\r\n",
    ]

    @Test("A response to CONNECT that is not HTTP opens no tunnel", arguments: answers.indices)
    func garbage(index: Int) async throws {
        let proxy = try HTTPTestProxy(manner: .says(Self.answers[index]))
        let found = try await ending(
            through: proxy.proxy(user: proxyUser, password: proxyPassword), connectTimeout: .seconds(1))
        let expected: [RequestFailure.Reason] = [.proxy, .timeout, .tooLarge]
        #expect(found.map { expected.contains($0.reason) } == true, "\(String(describing: found))")
        #expect(proxy.requests.count == 1)
    }

    @Test("Garbage in response to a forwarded request is a protocol violation")
    func plainGarbage() async throws {
        let proxy = try HTTPTestProxy(manner: .says("SSH-2.0-OpenSSH_9.2\r\n\r\n"))
        let found = try await ending(of: "http://origin.test/", through: proxy.proxy())
        #expect(found?.reason == .protocolViolation, "\(String(describing: found))")
    }

    @Test("A CONNECT without a response does not delay a cancellation", arguments: ["https", "http"])
    func cancellation(scheme: String) async throws {
        let gate = LoopbackGate()
        let proxy = try HTTPTestProxy(manner: .hangs { gate.open() })
        let transport = try transport(.fixed(proxy.proxy()))
        var sent = try get("\(scheme)://origin.test/")
        sent.options.connectTimeout = .seconds(300)
        let request = sent
        let task = Task { await failure { try await transport.send(request) } }
        await gate.opened()
        task.cancel()
        #expect(await task.value?.reason == .cancelled)
        while proxy.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("A wait for a SOCKS method does not delay a cancellation")
    func socksCancellation() async throws {
        let gate = LoopbackGate()
        let proxy = try SOCKSTestProxy(manner: .hangs { gate.open() })
        let transport = try transport(.fixed(proxy.proxy()))
        let task = Task { await failure { try await transport.send(get("https://origin.test/")) } }
        await gate.opened()
        task.cancel()
        #expect(await task.value?.reason == .cancelled)
    }

    @Test("A CONNECT without a response does not delay a shutdown")
    func shutdown() async throws {
        let gate = LoopbackGate()
        let proxy = try HTTPTestProxy(manner: .hangs { gate.open() })
        let transport = try transport(.fixed(proxy.proxy()))
        let task = Task { await failure { try await transport.send(get("https://origin.test/")) } }
        await gate.opened()
        await transport.shutdown()
        #expect(await task.value?.reason == .cancelled)
    }

    @Test("A proxy that fails after its tunnel is open ends the exchange as the origin would")
    func tunnelBreaks() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { _ in .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .reset]) }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        let transport = try transport(.fixed(proxy.proxy()), trust: ours.policy())
        let found = await failure { try await transport.send(get("https://origin.test/")) }
        #expect(found?.reason == .interrupted, "\(String(describing: found))")
    }
}
