import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The network interface of a transport", .serialized)
struct NetworkInterfaceTests {
    private func transport(_ interface: String, _ proxy: ProxyPolicy = .direct) throws -> CurlTransport {
        try EssentialsCurlTests.transport(proxy) { $0.networkInterface = interface }
    }

    @Test("The network interface may be a local address or a name", arguments: ["127.0.0.1", "127.0.0.2", "lo"])
    func works(interface: String) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try transport(interface)
        for number in 0..<2 {
            let response = try await transport.send(request(server))
            #expect(response.text == "ok")
            #expect(response.connection.isReused == (number > 0))
        }
    }

    @Test(
        "A missing network interface or foreign address fails as `connection`",
        arguments: ["essentials-none", "no-such-host.invalid", "192.0.2.1", "::2"])
    func unknown(interface: String) async throws {
        let server = try LoopbackServer { _ in .response() }
        let found = await failure { try await transport(interface).send(request(server)) }
        #expect(found?.reason == .connection)
        // libcurl shows a name; for an address it shows the system's text.
        let isName = try !HostName(interface).isAddress
        #expect(!isName || found?.message.contains(interface) == true, "\(String(describing: found))")
        #expect(server.connectionCount == 0)
    }

    @Test(
        "A network interface that is empty or has a NUL is refused on creation of a transport", arguments: ["", "lo\0"])
    func invalid(interface: String) {
        let error = #expect(throws: RequestFailure.self) { _ = try transport(interface) }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.message.contains("networkInterface") == true)
    }

    @Test("The network interface applies to connections to proxies, too")
    func proxies() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let proxy = try HTTPTestProxy(ports: ["origin.test": server.port])
        #expect(try await transport("127.0.0.1", .fixed(proxy.proxy())).send(get("http://origin.test/")).text == "ok")
        let found = await failure {
            try await transport("192.0.2.1", .fixed(proxy.proxy())).send(get("http://origin.test/"))
        }
        #expect(found?.reason == .connection || found?.reason == .proxy, "\(String(describing: found))")
        #expect(proxy.connectionCount == 1)
    }
}
