import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A Unix-domain socket", .serialized)
struct UnixSocketTests {
    /// A socket that leads to a server on a port.
    private static func socket(_ address: SocketAddress, to server: LoopbackServer) throws -> SocketService {
        let port = server.port
        return try SocketService(address) { connection in
            guard let target = connection.connect(to: port) else { return }
            connection.channel.relay(with: target)
            target.close()
        }
    }

    /// A directory with a short path, which is removed with this object.
    private final class Directory: Sendable {
        let path: String

        init() throws {
            path = "/tmp/essentials-\(UInt32.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func transport(
        _ socket: String, trust: TrustPolicy = .system, proxy: ProxyPolicy = .direct
    ) throws
        -> CurlTransport
    {
        try EssentialsCurlTests.transport(proxy, trust: trust) { $0.unixSocket = socket }
    }

    @Test("A Unix-domain socket receives every request whatever its host is, each on its own connection")
    func path() async throws {
        let server = try LoopbackServer { .response(body: "\($0.header("Host") ?? "") \($0.target) \($0.bodyText)") }
        let directory = try Directory()
        let path = directory.path + "/http"
        let socket = try Self.socket(.path(path), to: server)
        let transport = try transport(path)
        for number in 0..<3 {
            let response = try await transport.send(get("http://no-such-host.invalid/v1?x=\(number)"))
            #expect(response.text == "no-such-host.invalid /v1?x=\(number) ")
            #expect(!response.connection.isReused)
        }
        #expect(socket.connectionCount == 3)
        #expect(await transport.load.opened == 3)
        let sent = TransportRequest(
            .post, try RequestURL("http://other.invalid:8080/"), body: .bytes(Data("body".utf8)))
        #expect(try await transport.send(sent).text == "other.invalid:8080 / body")
    }

    @Test("A Unix-domain socket in the abstract namespace is named with an @")
    func abstract() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let name = "essentials-\(UInt64.random(in: 0 ... .max))"
        let socket = try Self.socket(.abstract(name), to: server)
        let transport = try transport("@" + name)
        // The number of connections depends on libcurl: some versions never reuse one of these.
        for _ in 0..<3 { #expect(try await transport.send(get("http://host.invalid/")).text == "ok") }
        #expect((1...3).contains(socket.connectionCount))
    }

    @Test("TLS over a Unix-domain socket is judged for the URL's host")
    func tls() async throws {
        let ours = try Authority.originTest()
        let server = try ours.server { _ in .response(body: "ok") }
        let directory = try Directory()
        let path = directory.path + "/https"
        let socket = try Self.socket(.path(path), to: server)
        let right = try transport(path, trust: ours.policy(pins: [strangePin(), .publicKey(ours.leaf.publicKeyPin)]))
        let response = try await right.send(get("https://origin.test/"))
        #expect(response.text == "ok")
        #expect(response.connection.tlsVersion == "TLSv1.3")
        let otherHost = await failure { try await right.send(get("https://other.test/")) }
        #expect(otherHost?.reason == .trustHost)
        let wrong = try transport(path, trust: ours.policy(pins: [strangePin(), strangePin(8)]))
        #expect(await failure { try await wrong.send(get("https://origin.test/")) }?.reason == .pinMismatch)
        #expect(await failure { try await right.send(get("http://origin.test/")) }?.reason == .plaintextRefused)
        #expect(server.requestCount == 1)
        #expect(socket.connectionCount == 3)
    }

    @Test(
        "A missing Unix-domain socket fails as `connection` with its name",
        arguments: ["/tmp/essentials-none/socket", "@essentials-none"])
    func missing(name: String) async throws {
        let found = await failure { try await transport(name).send(get("http://localhost/")) }
        #expect(found?.reason == .connection)
        #expect(found?.message.contains(name) == true, "\(String(describing: found))")
    }

    @Test("A Unix-domain socket without a listener fails as `connection`")
    func stale() async throws {
        let directory = try Directory()
        let path = directory.path + "/old"
        try SocketService(.path(path)) { _ in }.stop()
        #expect(FileManager.default.fileExists(atPath: path))
        let found = await failure { try await transport(path).send(get("http://localhost/")) }
        #expect(found?.reason == .connection, "\(String(describing: found))")
    }

    @Test("A Unix-domain socket whose name is empty or too long is refused when the transport is created")
    func invalid() async throws {
        let long = "/tmp/" + String(repeating: "x", count: 103)
        for name in [long, "@" + long.dropFirst(1), "", "@", "/tmp/a\0b", "@\0"] {
            let error = #expect(throws: RequestFailure.self) { _ = try transport(name) }
            #expect(error?.reason == .invalidRequest)
            #expect(error?.message.contains("unixSocket") == true)
        }
    }

    @Test("The path of a Unix-domain socket may have 107 bytes")
    func longest() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let directory = try Directory()
        let path = directory.path + "/" + String(repeating: "x", count: 106 - directory.path.utf8.count)
        #expect(path.utf8.count == 107)
        let socket = try Self.socket(.path(path), to: server)
        #expect(try await transport(path).send(get("http://host.invalid/")).text == "ok")
        #expect(socket.connectionCount == 1)
    }

    @Test("A Unix-domain socket is used without a proxy, whatever the proxy policy is", arguments: ["http", "https"])
    func proxy(scheme: String) async throws {
        let ours = try Authority.originTest()
        let server =
            try scheme == "http"
            ? LoopbackServer { .response(body: $0.target) } : ours.server { .response(body: $0.target) }
        let directory = try Directory()
        let path = directory.path + "/http"
        let socket = try Self.socket(.path(path), to: server)
        let (http, socks) = try (HTTPTestProxy(), SOCKSTestProxy())
        for proxy in try [
            http.proxy(user: proxyUser, password: proxyPassword), socks.proxy(user: proxyUser, password: proxyPassword),
        ] {
            let transport = try transport(path, trust: ours.policy(), proxy: .fixed(proxy))
            var sent = try get("\(scheme)://origin.test/path")
            sent.options.connectTimeout = .seconds(2)
            let request = sent
            var text: String?
            let found = await failure { text = try await transport.send(request).text }
            #expect(text == "/path", "\(proxy.kind): \(String(describing: found))")
            await transport.shutdown()
        }
        #expect(socket.connectionCount == 2)
        #expect(http.connectionCount == 0 && socks.connectionCount == 0)
        let fields = server.requests.flatMap(\.headers)
        #expect(!fields.contains { $0.name.lowercased().hasPrefix("proxy-") || $0.value.contains("Basic") })
    }
}
