import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsCurl

/// Requests that could avoid a policy without using its connections.
@Suite("Ways around a trust policy", .serialized)
struct AroundAttacks {
    private static let past = Date(timeIntervalSince1970: 1_600_000_000)

    private static func policy(
        _ pattern: String, mode: PinSet.Mode = .enforce, expires: Date? = nil
    ) throws -> TrustPolicy {
        try TrustPolicy(
            hosts: [HostRule(pattern, pins: PinSet([strangePin(1), strangePin(2)], mode: mode, expires: expires))],
            anchors: Fixture.anchors("root"))
    }

    // MARK: Plain http

    @Test(
        "Plain http to a host with pins is refused",
        arguments: ["pin.test", "*.pin.test", "**.pin.test", "PIN.TEST.", "**.Pin.Test"], [nil, past])
    func plaintext(pattern: String, expires: Date?) async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try AttackBench.transport(Self.policy(pattern, expires: expires), to: server)
        for host in pattern.hasPrefix("*.") ? ["a.pin.test", "A.PIN.test."] : ["pin.test", "PIN.Test", "pin.test."] {
            let sent = try AttackBench.request(server, host: host, scheme: "HTTP")
            let found = await failure { try await transport.send(sent) }
            #expect(found?.reason == .plaintextRefused, "\(host): \(String(describing: found))")
        }
        #expect(server.connectionCount == 0)
        // An unlisted host may be reached over plain http.
        let other = try AttackBench.request(server, host: "other.test", scheme: "http")
        #expect(try await transport.send(other).text == "ok")
    }

    @Test("Plain http under a rule that only reports is sent and reported")
    func reportedPlaintext() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try AttackBench.transport(Self.policy("pin.test", mode: .reportOnly), to: server)
        let reports = transport.trustReports
        let sent = try AttackBench.request(server, scheme: "http")
        #expect(try await transport.send(sent).text == "ok")
        var reader = reports.makeAsyncIterator()
        let report = try #require(await reader.next())
        #expect(report.reason == .plaintextRefused)
        #expect(!report.isEnforced)
        #expect(report.host == "pin.test")
    }

    @Test("Plain http to an unlisted host is refused if such hosts are refused or pinned")
    func unlistedPlaintext() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let rules = try [HostRule("elsewhere.test", pins: PinSet([strangePin(1), strangePin(2)]))]
        let anchors = try Fixture.anchors("root")
        let pins = try PinSet([strangePin(1), strangePin(2)])
        for (unlisted, reason) in [
            (TrustPolicy.UnlistedHosts.refused, RequestFailure.Reason.hostRefused), (.pinned(pins), .plaintextRefused),
        ] {
            let policy = try TrustPolicy(hosts: rules, unlistedHosts: unlisted, anchors: anchors)
            let transport = try AttackBench.transport(policy, to: server)
            let sent = try AttackBench.request(server, scheme: "http")
            let found = await failure { try await transport.send(sent) }
            #expect(found?.reason == reason, "\(String(describing: found))")
        }
        #expect(server.connectionCount == 0)
    }

    @Test("Plain http to the port of an https server is refused")
    func plaintextToTLS() async throws {
        let server = try AttackBench.server()
        let transport = try AttackBench.transport(Self.policy("pin.test"), to: server)
        let sent = try AttackBench.request(server, scheme: "http")
        #expect(await failure { try await transport.send(sent) }?.reason == .plaintextRefused)
        #expect(server.connectionCount == 0)
    }

    // MARK: Spellings

    @Test(
        "Another spelling of a pinned host does not avoid its rule",
        arguments: ["PIN.TEST", "Pin.Test", "pin.test.", "PIN.TEST."],
        ["pin.test", "PIN.TEST", "pin.test.", "**.Pin.Test."])
    func spellings(host: String, pattern: String) async throws {
        let server = try AttackBench.server()
        let failure = try await AttackBench.expectRefusal(
            .pinMismatch, of: server, host: host, under: Self.policy(pattern))
        #expect(failure?.host == "pin.test")
        let right = try TrustPolicy(
            hosts: [HostRule(pattern, pins: PinSet([Fixture.key("leaf"), strangePin()]))], unlistedHosts: .refused,
            anchors: Fixture.anchors("root"))
        try await AttackBench.expectSuccess(of: server, host: host, under: right)
        #expect(server.handshakes.allSatisfy { $0.serverName == "pin.test" })
    }

    @Test("An internationalised name is pinned in its A-label form")
    func internationalised() async throws {
        let authority = try Authority(.init(commonName: "idn", dnsNames: ["xn--bcher-kva.test"], ipAddresses: []))
        let server = try AttackBench.server([authority.leaf])
        var configuration = try AttackBench.configuration(to: [])
        configuration.addressOverrides = [
            try .init(host: HostName("xn--bcher-kva.test"), port: server.port, address: HostName("127.0.0.1"))
        ]
        for (pin, reason) in try [
            (strangePin(1), RequestFailure.Reason.pinMismatch), (Pin.publicKey(authority.leaf.publicKeyPin), nil),
        ] {
            let policy = try TrustPolicy(
                hosts: [HostRule("XN--Bcher-KVA.test", pins: PinSet([pin, strangePin(2)]))], unlistedHosts: .refused,
                anchors: authority.anchors)
            let transport = try CurlTransport(trust: policy, configuration: configuration)
            for host in ["xn--bcher-kva.test", "XN--BCHER-KVA.TEST."] {
                let sent = try AttackBench.request(server, host: host)
                #expect(await failure { try await transport.send(sent) }?.reason == reason)
            }
            if reason != nil { #expect(server.applicationBytesReceived == 0) }
            await transport.shutdown()
        }
        #expect(server.requestCount == 2)
        #expect(server.handshakes.filter { !$0.succeeded }.count == 2)
    }

    @Test(
        "A host that could be read in two ways is not a valid URL",
        arguments: [
            "bücher.test", "pin.test\u{3002}", "ｐｉｎ.test", "pin%2Etest", "pin.test%00.other.test", "user@pin.test",
            "pin.test:443@other.test", "pin.test\\.other.test", "pin..test", "0x7f.1", "2130706433", "127.1",
            "pin.test other.test", "pin.test\t",
        ])
    func ambiguous(host: String) {
        let found = #expect(throws: RequestFailure.self) { try RequestURL("https://\(host)/") }
        #expect(found?.reason == .invalidRequest)
    }

    @Test("A pattern outside ASCII is refused, because it would never match")
    func pattern() {
        for text in ["bücher.test", "*.bücher.test", "ＰＩＮ.test"] {
            let found = #expect(throws: RequestFailure.self) { try HostPattern(text) }
            #expect(found?.reason == .invalidPolicy)
            #expect(found?.remedy?.contains("xn--") == true)
        }
    }

    @Test("A Host field that names another server is refused")
    func hostField() async throws {
        let server = try AttackBench.server()
        let transport = try AttackBench.transport(Self.policy("pin.test"), to: server)
        var sent = try AttackBench.request(server)
        sent.headerFields[try #require(HTTPField.Name("Host"))] = "other.test"
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .invalidRequest, "\(String(describing: found))")
        #expect(server.connectionCount == 0)
    }

    // MARK: Libraries

    @Test(
        "No transport is created with another TLS library or an old one",
        arguments: [
            ("GnuTLS/3.7.9", 0x3000_0160), ("NSS/3.87", 0x3000_0160), ("LibreSSL/3.8.2", 0x2000_0000),
            ("BoringSSL", 0x1010_107f), ("wolfSSL/5.5.4", 0x3000_0160), ("mbedTLS/2.28.3", 0x3000_0160),
            ("OpenSSL/1.1.1w", 0x1010_117f), ("(OpenSSL/3.0.22) GnuTLS/3.7.9", 0x3000_0160),
            ("GnuTLS/3.7.9 (OpenSSL/3.0.22)", 0x3000_0160), ("OpenSSL/3.0.22", 0x1010_117f), ("", 0x3000_0160),
        ] as [(String, UInt)])
    func backend(name: String, number: UInt) {
        var facts = LibraryRequirements.facts()
        (facts.tlsVersion, facts.openSSLVersionNumber) = (name, number)
        let found = #expect(throws: RequestFailure.self) { try LibraryRequirements.check(facts) }
        #expect(found?.reason == .tls)
    }

    // MARK: Client certificates

    struct Stranger: Sendable, CustomTestStringConvertible {
        var chain: String
        var pin = "leaf"
        var reason: RequestFailure.Reason
        var text: String?
        var testDescription: String { chain }
    }

    static let strangers = [
        Stranger(chain: "leaf", pin: "leaf-backup", reason: .pinMismatch),
        Stranger(chain: "rogue-leaf", reason: .trustChain, text: "X.509 error 20"),
        Stranger(chain: "leaf-wrong-host", pin: "leaf-wrong-host", reason: .trustHost),
        Stranger(chain: "leaf-cn-only", pin: "leaf-cn-only", reason: .trustHost),
        Stranger(chain: "leaf-expired", pin: "leaf-expired", reason: .trustChain, text: "X.509 error 10"),
        Stranger(chain: "self-signed", pin: "self-signed", reason: .trustChain, text: "X.509 error 18"),
    ]

    @Test(
        "A wrong server that requests the client's certificate does not receive it", arguments: strangers,
        [ServerTLS.Version.tls12, .tls13])
    func identity(_ stranger: Stranger, version: ServerTLS.Version) async throws {
        let anchor = try Fixture.certificate("client-root")
        for authentication in [ServerTLS.ClientAuthentication.request, .require(anchor: anchor)] {
            let server = try AttackBench.server(stranger.chain) {
                ($0.minimumVersion, $0.maximumVersion) = (version, version)
                $0.clientAuthentication = authentication
            }
            let policy = try AttackBench.policy(
                [Fixture.key(stranger.pin), strangePin()], identity: Fixture.identity("client-a"))
            try await AttackBench.expectRefusal(stranger.reason, stranger.text, of: server, under: policy)
        }
        // The right server receives it.
        let server = try AttackBench.server {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .require(anchor: anchor)
        }
        let policy = try AttackBench.policy(
            [Fixture.key("leaf"), strangePin()], identity: Fixture.identity("client-a"))
        try await AttackBench.expectSuccess(of: server, under: policy)
        #expect(try server.handshakes.first?.clientCertificatePEM == Fixture.certificate("client-a").certificatePEM)
    }
}
