import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Attacks: the pin table", .serialized)
struct PinTableAttacks {
    /// Expects that a chain is accepted with a pin and an unrelated one, but not with the unrelated one alone.
    private func expectMatch(_ pin: Pin, chain: String = "leaf") async throws {
        let server = try AttackBench.server(chain)
        try await AttackBench.expectSuccess(of: server, under: AttackBench.policy([pin]))
        try await AttackBench.expectSuccess(of: server, under: AttackBench.policy([strangePin(), pin]))
        try await AttackBench.expectRefusal(.pinMismatch, of: server, under: AttackBench.policy([strangePin()]))
    }

    @Test("The leaf's public key can be a pin", arguments: [Pin.Scope.any, .leaf])
    func leafKey(scope: Pin.Scope) async throws {
        try await expectMatch(Fixture.key("leaf", scope: scope))
    }

    @Test("The leaf's whole certificate can be a pin", arguments: [Pin.Scope.any, .leaf])
    func leafCertificate(scope: Pin.Scope) async throws {
        try await expectMatch(Fixture.whole("leaf", scope: scope))
    }

    @Test("The intermediate's public key can be a pin", arguments: [Pin.Scope.any, .issuer])
    func intermediateKey(scope: Pin.Scope) async throws {
        try await expectMatch(Fixture.key("intermediate", scope: scope))
    }

    @Test("The root's public key can be a pin even if the server does not present the root")
    func rootKey() async throws {
        #expect(try !Fixture.chain("leaf").contains { try $0.der == Fixture.certificate("root").der })
        try await expectMatch(Fixture.key("root"))
        try await expectMatch(Fixture.key("root", scope: .issuer))
        try await expectMatch(Fixture.whole("root"))
    }

    @Test("Any of the pins is enough, the last as well as the first")
    func backupPin() async throws {
        let server = try AttackBench.server()
        let strangers = try (1...20).map { try strangePin($0) }
        for pins in try [strangers + [Fixture.key("leaf")], [Fixture.key("leaf")] + strangers] {
            try await AttackBench.expectSuccess(of: server, under: AttackBench.policy(pins))
        }
        try await AttackBench.expectRefusal(.pinMismatch, of: server, under: AttackBench.policy(strangers))
    }

    @Test(
        "Wrong pins are refused inside the handshake, and the client shows no certificate",
        arguments: [ServerTLS.Version.tls12, .tls13])
    func wrongPins(version: ServerTLS.Version) async throws {
        let server = try AttackBench.server {
            ($0.minimumVersion, $0.maximumVersion, $0.clientAuthentication) = (version, version, .request)
        }
        // Right digests as pins of the other kind, and a digest that differs in its last bit.
        let leaf = try Fixture.certificate("leaf")
        var flipped = try Pin.publicKey(leaf.publicKeyPin).digest
        flipped[31] ^= 1
        let wrong = try [
            Pin.publicKey(leaf.certificatePin), .certificate(leaf.publicKeyPin), Pin(kind: .publicKey, digest: flipped),
            Fixture.key("leaf-other"), Fixture.key("rogue-root"), strangePin(),
        ]
        let identity = try Fixture.identity("client-a")
        let found = try await AttackBench.expectRefusal(
            .pinMismatch, of: server, under: AttackBench.policy(wrong, identity: identity))
        #expect(found?.phase == .handshake)
        #expect(found?.host == "pin.test")
        let path = try ["leaf", "intermediate", "root"].map { try Fixture.certificate($0) }
        #expect(found?.chain.map(\.publicKeyPin.text) == path.map(\.publicKeyPin))
        #expect(found?.chain.map(\.certificatePin.text) == path.map(\.certificatePin))
        // The message has every digest by which the chain could be pinned, so that the right one can be copied from it.
        let keys = path.map(\.publicKeyPin).joined(separator: ", ")
        let certificates = path.map(\.certificatePin).joined(separator: ", ")
        #expect(
            found?.message.contains(
                "The public keys of the chain are, leaf first, \(keys); its certificates are \(certificates)."
            ) == true)
        #expect(found?.chain.allSatisfy { $0.subject.contains("NEVER TRUST") && $0.notAfter > $0.notBefore } == true)
        // The same server sees the certificate of the same client once a pin matches.
        let right = try AttackBench.policy(wrong + [Fixture.key("leaf")], identity: identity)
        try await AttackBench.expectSuccess(of: server, under: right)
        #expect(server.handshakes.last?.clientCertificatePEM != nil)
        #expect(server.handshakes.allSatisfy { $0.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3") })
    }

    /// The reports before one of an unlisted host, which is refused here to mark their end.
    private func reports(
        _ stream: AsyncStream<TrustReport>, of server: LoopbackServer, by transport: CurlTransport
    ) async throws -> [TrustReport] {
        try await AttackBench.expectRefusal(
            .hostRefused, of: server, host: "elsewhere.test", by: transport, at: .preparation)
        return await reports(stream)
    }

    private func reports(_ stream: AsyncStream<TrustReport>) async -> [TrustReport] {
        var found: [TrustReport] = []
        for await report in stream {
            if report.host == "elsewhere.test" {
                #expect(report.reason == .hostRefused)
                #expect(report.isEnforced)
                #expect(report.pattern == nil)
                #expect(report.chain.isEmpty)
                break
            }
            found.append(report)
        }
        return found
    }

    @Test("A rule that only reports accepts three requests and reports once")
    func reportOnly() async throws {
        let server = try AttackBench.server()
        let pin = try strangePin()
        let transport = try AttackBench.transport(AttackBench.policy([pin], mode: .reportOnly), to: server)
        let stream = transport.trustReports
        for _ in 0..<3 { try await AttackBench.expectSuccess(of: server, by: transport) }
        let found = try await reports(stream, of: server, by: transport)
        #expect(found.count == 1)
        let missed = try #require(found.first)
        #expect(missed.reason == .pinMismatch)
        #expect(!missed.isEnforced)
        #expect(missed.host == "pin.test")
        #expect(missed.port == server.port)
        #expect(missed.pattern?.description == "pin.test")
        #expect(missed.pins == [pin])
        let path = try ["leaf", "intermediate", "root"].map { try Fixture.certificate($0).certificatePin }
        #expect(missed.chain.map(\.certificatePin.text) == path)
        await transport.shutdown()
    }

    @Test("A rule that only reports is silent while a pin matches, and reports plain http")
    func reportOnlyMatch() async throws {
        let server = try AttackBench.server()
        let plain = try LoopbackServer { _ in .response(body: "ok") }
        let policy = try AttackBench.policy([strangePin(), Fixture.key("leaf")], mode: .reportOnly)
        let transport = try AttackBench.transport(policy, to: server, plain)
        let stream = transport.trustReports
        try await AttackBench.expectSuccess(of: server, by: transport)
        let sent = try AttackBench.request(plain, scheme: "http")
        #expect(try await transport.send(sent).text == "ok")
        let found = try await reports(stream, of: server, by: transport)
        #expect(found.map(\.reason) == [.plaintextRefused])
        #expect(found.map(\.isEnforced) == [false])
        #expect(found.map(\.port) == [plain.port])
        await transport.shutdown()
    }

    @Test("A refusal by pins is reported once, as enforced")
    func enforcedReport() async throws {
        let server = try AttackBench.server()
        let transport = try AttackBench.transport(AttackBench.policy([strangePin()]), to: server)
        let stream = transport.trustReports
        for _ in 0..<3 { try await AttackBench.expectRefusal(.pinMismatch, of: server, by: transport) }
        let found = try await reports(stream, of: server, by: transport)
        #expect(found.map(\.reason) == [.pinMismatch])
        #expect(found.map(\.isEnforced) == [true])
        #expect(found.map(\.chain.count) == [3])
        await transport.shutdown()
    }

    @Test("A chain that is judged without a connection is reported, too")
    func evaluatedReports() async throws {
        let trust = try CompiledTrust(AttackBench.policy([strangePin()], mode: .reportOnly))
        let stream = trust.reports()
        let (leaf, other) = try (Fixture.chain("leaf").map(\.der), Fixture.chain("leaf-other").map(\.der))
        for _ in 0..<3 { _ = try trust.evaluate(chain: leaf, host: HostName("pin.test")) }
        #expect(throws: RequestFailure.self) { try trust.evaluate(chain: other, host: HostName("other.test")) }
        #expect(throws: RequestFailure.self) { try trust.evaluate(chain: other, host: HostName("pin.test")) }
        #expect(throws: RequestFailure.self) { try trust.evaluate(chain: leaf, host: HostName("elsewhere.test")) }
        let found = await reports(stream)
        #expect(found.map(\.reason) == [.pinMismatch, .hostRefused, .trustHost])
        #expect(found.map(\.isEnforced) == [false, true, true])
    }

    @Test("A leaf renewed with the same key matches the key's pin, but not the old certificate's pin")
    func renewedLeaf() async throws {
        let server = try AttackBench.server("leaf-renewed")
        try await AttackBench.expectSuccess(of: server, under: AttackBench.policy([Fixture.key("leaf"), strangePin()]))
        try await AttackBench.expectRefusal(
            .pinMismatch, of: server, under: AttackBench.policy([Fixture.whole("leaf"), strangePin()]))
    }

    @Test("A leaf with a new key is refused, and accepted with a backup pin for that key")
    func rekeyedLeaf() async throws {
        let current = try [Fixture.key("leaf"), Fixture.whole("leaf")]
        let rekeyed = try AttackBench.server("leaf-rekeyed")
        try await AttackBench.expectRefusal(.pinMismatch, of: rekeyed, under: AttackBench.policy(current))
        let backup = try AttackBench.server("leaf-backup")
        try await AttackBench.expectRefusal(.pinMismatch, of: backup, under: AttackBench.policy(current))
        let policy = try AttackBench.policy(current + [Fixture.key("leaf-backup")])
        try await AttackBench.expectSuccess(of: backup, under: policy)
        try await AttackBench.expectRefusal(.pinMismatch, of: rekeyed, under: policy)
    }

    @Test("A pin for the leaf does not match an issuer, and a pin for an issuer does not match the leaf")
    func scopes() async throws {
        let server = try AttackBench.server()
        let crossed = try [
            Fixture.key("intermediate", scope: .leaf), Fixture.key("root", scope: .leaf),
            Fixture.whole("intermediate", scope: .leaf), Fixture.whole("root", scope: .leaf),
            Fixture.key("leaf", scope: .issuer), Fixture.whole("leaf", scope: .issuer),
        ]
        for pin in crossed {
            try await AttackBench.expectRefusal(.pinMismatch, of: server, under: AttackBench.policy([pin]))
        }
        try await AttackBench.expectRefusal(.pinMismatch, of: server, under: AttackBench.policy(crossed))
    }

    @Test("A self-signed anchor is the leaf of its own chain, and not an issuer")
    func scopesOfSelfSigned() async throws {
        let server = try AttackBench.server("self-signed")
        let anchors = try Fixture.anchors("self-signed")
        try await AttackBench.expectSuccess(
            of: server, under: AttackBench.policy([Fixture.key("self-signed", scope: .leaf)], anchors: anchors))
        try await AttackBench.expectRefusal(
            .pinMismatch, of: server,
            under: AttackBench.policy([Fixture.key("self-signed", scope: .issuer)], anchors: anchors))
    }

    @Test("Expired pins do not count, but the chain, the host and the ban on plain http do")
    func expiredRule() async throws {
        let past = Date(timeIntervalSinceNow: -60)
        let policy = try AttackBench.policy([strangePin()], expires: past)
        let server = try AttackBench.server()
        try await AttackBench.expectSuccess(of: server, under: policy)
        for (chain, reason) in [
            ("leaf-expired", RequestFailure.Reason.trustChain), ("leaf-wrong-host", .trustHost),
            ("private-leaf", .trustChain), ("self-signed", .trustChain), ("rogue-leaf", .trustChain),
        ] {
            try await AttackBench.expectRefusal(reason, of: AttackBench.server(chain), under: policy)
        }
        let plain = try LoopbackServer { _ in .response() }
        let transport = try AttackBench.transport(policy, to: plain)
        let sent = try AttackBench.request(plain, scheme: "http")
        #expect(await failure { try await transport.send(sent) }?.reason == .plaintextRefused)
        #expect(plain.connectionCount == 0)
        await transport.shutdown()
    }

    @Test("Pins are enforced until they expire, and matching pins still match afterwards")
    func unexpiredRule() async throws {
        let server = try AttackBench.server()
        for future in [Date(timeIntervalSinceNow: 3600), .distantFuture] {
            let policy = try AttackBench.policy([strangePin()], expires: future)
            try await AttackBench.expectRefusal(.pinMismatch, of: server, under: policy)
        }
        for past in [Date(timeIntervalSinceNow: -3600), .distantPast] {
            let policy = try AttackBench.policy([Fixture.key("leaf")], expires: past)
            try await AttackBench.expectSuccess(of: server, under: policy)
        }
    }

    @Test("A rule that refuses its hosts after expiry refuses matching pins, too")
    func refusedWhenExpired() async throws {
        let server = try AttackBench.server()
        let past = Date(timeIntervalSinceNow: -60)
        for pin in try [strangePin(), Fixture.key("leaf")] {
            let policy = try AttackBench.policy([pin], expires: past, onExpiry: .refuse)
            let found = try await AttackBench.expectRefusal(.hostRefused, of: server, under: policy)
            #expect(found?.message.contains("expired") == true)
        }
        let future = Date(timeIntervalSinceNow: 3600)
        let policy = try AttackBench.policy([Fixture.key("leaf")], expires: future, onExpiry: .refuse)
        try await AttackBench.expectSuccess(of: server, under: policy)
    }
}
