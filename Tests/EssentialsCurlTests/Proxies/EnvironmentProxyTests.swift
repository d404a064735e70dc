import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// Each test runs in its own process with its own variables.
@Suite("Proxies of the environment", .serialized)
struct EnvironmentProxyTests {
    /// Removes the variables that this process was started with.
    private static func forget() {
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            unsetenv(name)
            unsetenv(name.uppercased())
        }
    }

    /// A server that reports how a request reached it.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer { .response(body: $0.header("Via") == nil ? "direct" : "proxied") }
    }

    /// A transport that needs no name service for direct requests.
    private static func transport(
        _ server: LoopbackServer, configure: (inout CurlTransport.Configuration) throws -> Void = { _ in }
    ) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.addressOverrides = try ["origin.test", "other.test"].map { host in
            try CurlTransport.AddressOverride(
                host: HostName(host), port: server.port, address: HostName("127.0.0.1"))
        }
        try configure(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    @Test("The environment's proxies are used by default, except for the hosts of its bypass")
    func usual() async throws {
        await #expect(processExitsWith: .success) {
            Self.forget()
            let server = try Self.server()
            let proxy = try HTTPTestProxy()
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "other.test", 1)
            let transport = try Self.transport(server)
            let origin = try get("http://origin.test:\(server.port)/")
            let other = try get("http://other.test:\(server.port)/")
            #expect(try await transport.send(origin).text == "proxied")
            #expect(try await transport.send(other).text == "direct")
            #expect(proxy.lines == ["GET http://origin.test:\(server.port)/ HTTP/1.1"])
            await transport.shutdown()
        }
    }

    @Test("The environment's proxies are read when the transport is created")
    func once() async throws {
        await #expect(processExitsWith: .success) {
            Self.forget()
            let server = try Self.server()
            let proxy = try HTTPTestProxy()
            let origin = try get("http://origin.test:\(server.port)/")
            let before = try Self.transport(server)
            setenv("all_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            let meanwhile = try Self.transport(server)
            #expect(try await before.send(origin).text == "direct")
            #expect(try await meanwhile.send(origin).text == "proxied")
            Self.forget()
            let after = try Self.transport(server)
            #expect(try await meanwhile.send(origin).text == "proxied")
            #expect(try await after.send(origin).text == "direct")
            #expect(proxy.requests.count == 2)
        }
    }

    @Test("A transport with its own proxy policy ignores the environment's proxies and bypass")
    func ignored() async throws {
        await #expect(processExitsWith: .success) {
            Self.forget()
            let server = try Self.server()
            let (named, ours) = try (HTTPTestProxy(), HTTPTestProxy())
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:\(named.port)", 1) }
            let origin = try get("http://origin.test:\(server.port)/")
            let direct = try Self.transport(server) { $0.proxy = .direct }
            #expect(try await direct.send(origin).text == "direct")
            // By default, libcurl itself reads both spellings.
            for name in ["no_proxy", "NO_PROXY"] { setenv(name, "*", 1) }
            let fixed = try Self.transport(server) { $0.proxy = try .fixed(ours.proxy()) }
            #expect(try await fixed.send(origin).text == "proxied")
            #expect(try await direct.send(origin).text == "direct")
            #expect(named.connectionCount == 0)
            #expect(ours.requests.count == 1)
        }
    }
}
