import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Spellings of 127.0.0.1 that differ from the one in a rule.
@Suite("A rule for an address holds for every spelling of the address", .serialized)
struct AddressAttacks {
    /// Spellings that become 127.0.0.1 (RFC 4291, 2.5.5).
    static let folded = [
        "[::ffff:127.0.0.1]", "[::FFFF:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
        "[0000:0000:0000:0000:0000:ffff:7f00:0001]", "127.0.0.1.",
    ]

    /// Spellings that are refused before anything is connected.
    static let refused = [
        // Translators (RFC 6052, RFC 8215, RFC 2765), zones, and the unspecified address, which leads to this machine.
        "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[::ffff:0:127.0.0.1]",
        "[::ffff:127.0.0.1%lo]", "[::ffff:127.0.0.1%25lo]", "[::1%lo]", "0.0.0.0", "[::]", "[::ffff:0.0.0.0]",
        // IPv4-compatible addresses (RFC 4291, 2.5.5.1).
        "[::127.0.0.1]", "[::7f00:1]",
        // Decimal, octal, hexadecimal and short forms (inet_aton(3)).
        "2130706433", "0x7f000001", "0X7F000001", "017700000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1",
        "127.0.0.01", "127.0.0.0x1", "0", "[::ffff:127.1]", "[::ffff:0x7f.0.0.1]", "[::ffff:0177.0.0.1]",
        "%31%32%37.0.0.1", "１２７.0.0.1",
    ]

    private static func policy(_ pattern: String = "127.0.0.1", pin: Pin? = nil) throws -> TrustPolicy {
        try TrustPolicy(
            hosts: [HostRule(pattern, pins: PinSet([pin ?? strangePin(1), strangePin(2)]))],
            anchors: Fixture.anchors("root"))
    }

    @Test("Plain http to another spelling of a pinned address is refused before a connection", arguments: folded)
    func plaintext(host: String) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        for pattern in ["127.0.0.1", host] {
            let transport = try AttackBench.transport(Self.policy(pattern), to: server)
            for spelling in [host, "127.0.0.1"] {
                let sent = try AttackBench.request(server, host: spelling, scheme: "http")
                let found = await failure { try await transport.send(sent) }
                #expect(found?.reason == .plaintextRefused, "\(String(describing: found))")
                #expect(found?.host == "127.0.0.1")
            }
            await transport.shutdown()
        }
        #expect(server.connectionCount == 0)
    }

    @Test(
        "Another spelling of a pinned address is judged by the pins and the authorities of its rule", arguments: folded)
    func encrypted(host: String) async throws {
        let server = try AttackBench.server("leaf-ip")
        for pattern in ["127.0.0.1", host] {
            try await AttackBench.expectRefusal(.pinMismatch, of: server, host: host, under: Self.policy(pattern))
            // The address is found in the certificate, and the connection is made to it.
            let right = try Self.policy(pattern, pin: Fixture.key("leaf-ip"))
            try await AttackBench.expectSuccess(of: server, host: host, under: right)
        }
        let stranger = try Authority(.init(commonName: "127.0.0.1", dnsNames: [], ipAddresses: ["127.0.0.1", "::1"]))
        let rogue = try AttackBench.server([stranger.leaf])
        let policy = try Self.policy(pin: .publicKey(stranger.leaf.publicKeyPin))
        try await AttackBench.expectRefusal(.trustChain, of: rogue, host: host, under: policy)
    }

    @Test(
        "A spelling of an address that cannot be folded is refused in URLs, rules, overrides and proxies",
        arguments: refused)
    func ambiguous(host: String) throws {
        for scheme in ["http", "https"] {
            let found = #expect(throws: RequestFailure.self) { try RequestURL("\(scheme)://\(host):8080/") }
            #expect(found?.reason == .invalidRequest)
        }
        #expect(#expect(throws: RequestFailure.self) { try HostPattern(host) }?.reason == .invalidPolicy)
        #expect(throws: RequestFailure.self) {
            try CurlTransport.AddressOverride(host: HostName("pin.test"), port: 1, address: HostName(host))
        }
        #expect(throws: RequestFailure.self) { try Proxy("http://\(host):8080") }
        #expect(throws: RequestFailure.self) { try Proxy(.http, host: HostName(host), port: 8080) }
    }

    @Test(
        "An address override leads to the address in any spelling, and the host's name is judged", arguments: folded)
    func addressOverride(host: String) async throws {
        let server = try AttackBench.server()
        var configuration = try AttackBench.configuration(to: [])
        configuration.addressOverrides = [
            try .init(host: HostName("pin.test"), port: server.port, address: HostName(host))
        ]
        let policy = try AttackBench.policy([Fixture.key("leaf")])
        let transport = try CurlTransport(trust: policy, configuration: configuration)
        try await AttackBench.expectSuccess(of: server, by: transport)
        #expect(throws: RequestFailure.self) {
            try CurlTransport.AddressOverride(host: HostName(host), port: 1, address: HostName("127.0.0.2"))
        }
    }

    @Test("A request to another spelling of an address in the bypass is sent without the proxy", arguments: folded)
    func bypass(host: String) async throws {
        let server = try LoopbackServer { _ in .response(body: "direct") }
        let proxy = try HTTPTestProxy()
        for entry in ["127.0.0.1", "127.0.0.0/8", "::ffff:127.0.0.1", "[::ffff:127.0.0.0]/104"] {
            let transport = try transport(.fixed(proxy.proxy(), except: ProxyBypass(entry)))
            #expect(try await transport.send(get("http://\(host):\(server.port)/")).text == "direct", "\(entry)")
        }
        #expect(proxy.connectionCount == 0)
    }

    @Test("A proxy is reached at every spelling of its address, and sees only the normalized one", arguments: folded)
    func proxy(host: String) async throws {
        let server = try LoopbackServer { .response(body: $0.header("Host") ?? "") }
        let proxy = try HTTPTestProxy()
        let rule = ProxyPolicy.fixed(try Proxy("http://\(host):\(proxy.port)"))
        let response = try await transport(rule).send(get("http://\(host):\(server.port)/"))
        #expect(response.text == "127.0.0.1:\(server.port)")
        #expect(proxy.lines == ["GET http://127.0.0.1:\(server.port)/ HTTP/1.1"])
    }

    @Test("A proxy's own rule holds for every spelling of its address", arguments: folded)
    func proxyRule(host: String) async throws {
        let certificates = try Fixture.chain("leaf-ip")
        let inner = try HTTPTestProxy()
        let front = try TLSFront(
            ServerTLS(certificate: try #require(certificates.first), chain: Array(certificates.dropFirst())),
            to: inner.port)
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .fixed(try Proxy("https://\(host):\(front.port)"))
        configuration.proxyTrust = try Self.policy()
        let transport = try CurlTransport(trust: .system, configuration: configuration)
        let found = await failure { try await transport.send(get("http://origin.test/")) }
        #expect(found?.reason == .pinMismatch, "\(String(describing: found))")
        #expect(inner.lines.isEmpty)
    }

    @Test("A local address to send from may have any spelling", arguments: ["::ffff:127.0.0.1", "127.0.0.1"])
    func networkInterface(interface: String) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try transport(.direct) { $0.networkInterface = interface }
        #expect(try await transport.send(request(server)).text == "ok")
    }
}
