import CEssentialsTest
import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Attempts to avoid a policy by kept connections and sessions, of the same transport or of others.
@Suite("Kept connections and sessions of other policies", .serialized)
struct ReuseAttacks {
    static let versions: [ServerTLS.Version] = [.tls12, .tls13]

    /// A server of one version.
    ///
    /// - Parameters:
    ///   - keeps: Whether connections are kept. Otherwise only their sessions are left.
    ///   - chain: The chain that it presents. The default is that of the fixture.
    private static func server(
        _ version: ServerTLS.Version, keeps: Bool, chain: [TestCertificate]? = nil,
        resumption: ServerTLS.Resumption = .tickets
    ) throws -> LoopbackServer {
        try AttackBench.server(
            chain ?? Fixture.chain("leaf"),
            adjust: {
                ($0.minimumVersion, $0.maximumVersion, $0.resumption) = (version, version, resumption)
            }, handler: { _ in .response(headers: keeps ? [] : [("Connection", "close")], body: "ok") })
    }

    private static func unpinned() throws -> TrustPolicy { try AttackBench.trusting(Fixture.anchors("root")) }

    private static func wrong() throws -> TrustPolicy { try AttackBench.policy([strangePin(1), strangePin(2)]) }

    // MARK: Connections of other transports

    @Test("A request with wrong pins does not use the pooled connection of one without pins", arguments: [false, true])
    func pooled(startsPinned: Bool) async throws {
        let server = try AttackBench.server()
        let open = try AttackBench.transport(Self.unpinned(), to: server)
        let pinned = try AttackBench.transport(Self.wrong(), to: server)
        if startsPinned { try await AttackBench.expectRefusal(.pinMismatch, of: server, by: pinned) }
        for _ in 0..<3 {
            try await AttackBench.expectSuccess(of: server, by: open)
            try await AttackBench.expectRefusal(.pinMismatch, of: server, by: pinned)
        }
        #expect(server.handshakes.filter(\.succeeded).count == 1)
        #expect(server.handshakes.allSatisfy { !$0.resumed })
        #expect(Set(server.requests.map(\.connection)).count == 1)
    }

    @Test("A request with wrong pins is refused while many without pins run at the same server")
    func interleaved() async throws {
        let server = try AttackBench.server()
        let open = try AttackBench.transport(Self.unpinned(), to: server)
        let pinned = try AttackBench.transport(Self.wrong(), to: server)
        let sent = try AttackBench.request(server)
        let counts = await withTaskGroup(of: RequestFailure.Reason?.self) { group in
            for number in 0..<80 {
                let transport = number % 2 == 0 ? open : pinned
                group.addTask { await failure { try await transport.send(sent) }?.reason }
            }
            return await group.reduce(into: [RequestFailure.Reason?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(counts == [nil: 40, .pinMismatch: 40])
        #expect(server.requestCount == 40)
        await pinned.shutdown()
        await open.shutdown()
        try await AttackBench.closed(server)
        #expect(server.requestCount == 40)
        #expect(server.handshakes.allSatisfy { $0.succeeded == ($0.clientCertificatePEM != nil) })
    }

    @Test("A request with wrong pins does not resume the session of one without pins", arguments: versions)
    func resumed(version: ServerTLS.Version) async throws {
        // Under TLS 1.2 that is a session in the server's memory, known by its identifier.
        let server = try Self.server(
            version, keeps: false, resumption: version == .tls12 ? .identifiers : .tickets)
        let open = try AttackBench.transport(Self.unpinned(), to: server)
        let pinned = try AttackBench.transport(Self.wrong(), to: server)
        for _ in 0..<2 {
            try await AttackBench.expectSuccess(of: server, by: open)
            try await AttackBench.closed(server)
            try await AttackBench.expectRefusal(.pinMismatch, of: server, by: pinned)
        }
        #expect(server.handshakes.map(\.succeeded) == [true, false, true, false])
        #expect(server.handshakes.map(\.resumed) == [false, false, true, false])
    }

    @Test("Two transports of the same policy share neither sessions nor connections")
    func sameCompiledPolicy() async throws {
        let server = try AttackBench.server()
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf"), strangePin()]))
        let transports = try (0..<3).map { _ in try AttackBench.transport(trust, to: server) }
        for _ in 0..<2 {
            for transport in transports { try await AttackBench.expectSuccess(of: server, by: transport) }
        }
        #expect(server.handshakes.map(\.resumed) == [false, false, false])
        #expect(server.handshakes.allSatisfy { $0.succeeded })
    }

    @Test(
        "A request under other anchors is refused whatever connections and sessions were kept", arguments: versions,
        [false, true])
    func otherAnchors(version: ServerTLS.Version, keeps: Bool) async throws {
        let server = try Self.server(version, keeps: keeps)
        let pins = try [Fixture.key("leaf"), strangePin()]
        let ours = try AttackBench.transport(AttackBench.policy(pins), to: server)
        let theirs = try AttackBench.transport(
            AttackBench.policy(pins, anchors: Fixture.anchors("rogue-root")), to: server)
        for _ in 0..<2 {
            try await AttackBench.expectRefusal(.trustChain, "X.509 error 20", of: server, by: theirs)
            try await AttackBench.expectSuccess(of: server, by: ours)
        }
        #expect(server.handshakes.filter { !$0.succeeded }.allSatisfy { !$0.resumed })
    }

    @Test(
        "A request with a higher minimum TLS version is refused whatever connections and sessions were kept",
        arguments: [false, true])
    func higherFloor(keeps: Bool) async throws {
        let server = try Self.server(.tls12, keeps: keeps)
        let pins = try [Fixture.key("leaf"), strangePin()]
        let low = try AttackBench.transport(AttackBench.policy(pins), to: server)
        let high = try AttackBench.transport(AttackBench.policy(pins, minimumTLS: .tls13), to: server)
        for _ in 0..<2 {
            try await AttackBench.expectSuccess(of: server, by: low)
            try await AttackBench.expectRefusal(.tlsTooOld, of: server, by: high)
        }
        #expect(server.handshakes.filter { !$0.succeeded }.allSatisfy { !$0.resumed })
    }

    @Test("A request with another identity, or none, opens its own connection", arguments: versions, [false, true])
    func otherIdentity(version: ServerTLS.Version, keeps: Bool) async throws {
        let server = try Self.server(version, keeps: keeps)
        let identities = try [Fixture.identity("client-a"), nil, Fixture.identity("client-b")]
        let transports = try identities.map {
            try AttackBench.transport(AttackBench.policy([Fixture.key("leaf")], identity: $0), to: server)
        }
        let shown = try [
            Fixture.certificate("client-a").certificatePEM, nil, Fixture.certificate("client-b").certificatePEM,
        ]
        for round in 0..<3 {
            for (transport, certificate) in zip(transports, shown) {
                try await AttackBench.expectSuccess(of: server, by: transport)
                let connection = try #require(server.requests.last?.connection)
                let handshake = try #require(server.handshakes.last { $0.connection == connection })
                #expect(handshake.clientCertificatePEM == certificate)
                #expect(handshake.resumed == (round > 0 && !keeps))
            }
        }
    }

    // MARK: Connections of the same transport

    /// A certificate for two hosts, and its anchor.
    private static func twoHosts() throws -> (leaf: TestCertificate, anchors: TrustAnchors) {
        let authority = try Authority(
            .init(commonName: "pin.test", dnsNames: ["pin.test", "other.test"], ipAddresses: []))
        return (authority.leaf, authority.anchors)
    }

    @Test(
        "A host with wrong pins is refused, whatever another host of the same server has left", arguments: versions)
    func otherHost(version: ServerTLS.Version) async throws {
        let (leaf, anchors) = try Self.twoHosts()
        let policy = try TrustPolicy(
            hosts: [
                HostRule("pin.test", pins: PinSet([.publicKey(leaf.publicKeyPin), strangePin()])),
                HostRule("other.test", pins: PinSet([strangePin(1), strangePin(2)])),
            ], unlistedHosts: .refused, anchors: anchors)
        for keeps in [false, true] {
            let server = try Self.server(version, keeps: keeps, chain: [leaf])
            let transport = try AttackBench.transport(policy, to: server)
            for _ in 0..<3 {
                try await AttackBench.expectSuccess(of: server, by: transport)
                try await AttackBench.expectRefusal(.pinMismatch, of: server, host: "other.test", by: transport)
            }
            let failed = server.handshakes.filter { !$0.succeeded }
            #expect(failed.count == 3)
            #expect(failed.allSatisfy { !$0.resumed && $0.serverName == "other.test" })
        }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var mode = PinSet.Mode.enforce
        var isRight = true
        var isExpired = false
    }

    static let kinds = [
        Kind(testDescription: "right pins"),
        Kind(testDescription: "wrong pins that only report", mode: .reportOnly, isRight: false),
        Kind(testDescription: "wrong pins that have expired", isRight: false, isExpired: true),
    ]

    @Test("A transport reuses its connections and resumes its sessions", arguments: kinds, versions)
    func reuses(_ kind: Kind, version: ServerTLS.Version) async throws {
        let policy = try AttackBench.policy(
            kind.isRight ? [Fixture.key("leaf"), strangePin()] : [strangePin(1), strangePin(2)], mode: kind.mode,
            expires: kind.isExpired ? Date(timeIntervalSince1970: 1_600_000_000) : nil)
        let keeping = try Self.server(version, keeps: true)
        let pooled = try AttackBench.transport(policy, to: keeping)
        for _ in 0..<4 { try await AttackBench.expectSuccess(of: keeping, by: pooled) }
        #expect(keeping.handshakes.count == 1)
        let closing = try Self.server(version, keeps: false)
        let resumed = try AttackBench.transport(policy, to: closing)
        for _ in 0..<4 { try await AttackBench.expectSuccess(of: closing, by: resumed) }
        #expect(closing.handshakes.map(\.resumed) == [false, true, true, true])
    }

    @Test("If a rule only reports, a request on a kept connection is reported like the first one, once")
    func reports() async throws {
        let server = try AttackBench.server()
        let policy = try AttackBench.policy([strangePin(1), strangePin(2)], mode: .reportOnly)
        let transport = try AttackBench.transport(policy, to: server)
        // There is no listener at the first request, so the report must come from the kept connection.
        try await AttackBench.expectSuccess(of: server, by: transport)
        let reports = transport.trustReports
        for _ in 0..<3 { try await AttackBench.expectSuccess(of: server, by: transport) }
        await transport.shutdown()
        var found: [TrustReport] = []
        var reader = reports.makeAsyncIterator()
        found.append(try #require(await reader.next()))
        #expect(server.connectionCount == 1)
        #expect(found.first?.isEnforced == false)
        #expect(found.first?.reason == .pinMismatch)
        #expect(try found.first?.chain.first?.publicKeyPin == Fixture.key("leaf"))
        #expect(found.first?.pattern?.description == "pin.test")
    }

    @Test("A session without evidence leads to one full handshake, before which nothing is sent")
    func lostEvidence() async throws {
        // The test runs in its own process, where all sessions lose their evidence.
        await #expect(processExitsWith: .success) {
            let policy = try AttackBench.policy([Fixture.key("leaf"), strangePin()])
            try await AttackBench.expectSuccess(of: AttackBench.server(), under: policy)
            try #require(cet_sessions_forget())
            for (keeps, resumed) in [(true, [false, false]), (false, [false, true, false])] {
                let server = try Self.server(.tls13, keeps: keeps)
                let transport = try AttackBench.transport(policy, to: server)
                try await AttackBench.expectSuccess(of: server, by: transport)
                let size = server.applicationBytesReceived
                try await AttackBench.expectSuccess(of: server, by: transport)
                await transport.shutdown()
                // The abandoned handshake may end after the next one, because each has its own thread.
                try await AttackBench.closed(server)
                let handshakes = server.handshakes.sorted { $0.connection < $1.connection }
                #expect(handshakes.map(\.resumed) == resumed)
                #expect(handshakes.allSatisfy { $0.succeeded })
                #expect(server.applicationBytesReceived == size * 2)
                #expect(Set(server.requests.map(\.connection)).count == 2)
            }
        }
    }

    // MARK: Time

    @Test(
        "Kept and new connections are refused once their rule has expired, if it then refuses", arguments: versions)
    func ruleExpires(version: ServerTLS.Version) async throws {
        let (server, transport, first) = try await outlived { end in
            let server = try Self.server(version, keeps: true)
            let transport = try AttackBench.transport(
                AttackBench.policy([Fixture.key("leaf"), strangePin()], expires: end, onExpiry: .refuse), to: server)
            let sent = try AttackBench.request(server)
            return (server, transport, await failure { try await transport.send(sent) })
        }
        #expect(first == nil)
        #expect(server.handshakes.count == 1)
        try await AttackBench.expectRefusal(.hostRefused, of: server, by: transport, at: .request)
        #expect(server.connectionCount == 1, "the kept connection was not the one tried")
        try await AttackBench.closed(server)
        try await AttackBench.expectRefusal(.hostRefused, of: server, by: transport, at: .request)
        #expect(server.requestCount == 1)
    }

    @Test("A resumed session is refused once its rule has expired, if it then refuses", arguments: versions)
    func ruleExpiresBeforeResumption(version: ServerTLS.Version) async throws {
        let (server, transport, first) = try await outlived { end in
            let server = try Self.server(version, keeps: false)
            let transport = try AttackBench.transport(
                AttackBench.policy([Fixture.key("leaf"), strangePin()], expires: end, onExpiry: .refuse), to: server)
            let sent = try AttackBench.request(server)
            return (server, transport, await failure { try await transport.send(sent) })
        }
        #expect(first == nil)
        try await AttackBench.expectRefusal(.hostRefused, of: server, by: transport, at: .request)
        await transport.shutdown()
        try await AttackBench.closed(server)
        #expect(server.requestCount == 1)
        #expect(server.handshakes.map(\.resumed) == [false, true])
    }

    @Test("Wrong pins are refused until they expire, and the chain alone counts afterwards")
    func wrongPinsExpire() async throws {
        let (server, transport, first) = try await outlived { end in
            let server = try AttackBench.server()
            let transport = try AttackBench.transport(
                AttackBench.policy([strangePin(1), strangePin(2)], expires: end), to: server)
            let sent = try AttackBench.request(server)
            return (server, transport, await failure { try await transport.send(sent) })
        }
        #expect(first?.reason == .pinMismatch)
        #expect(server.applicationBytesReceived == 0)
        try await AttackBench.expectSuccess(of: server, by: transport)
    }

    @Test(
        "A kept connection or session is refused once one of its certificates has expired", arguments: versions,
        [false, true])
    func certificateExpires(version: ServerTLS.Version, keeps: Bool) async throws {
        let authority = try TestAuthority(name: "Short")
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])
        let (server, transport, first) = try await outlived { end in
            let seconds = Int64(end.timeIntervalSince1970) - Int64(Date().timeIntervalSince1970)
            let leaf = try authority.issue(.init(commonName: "pin.test", dnsNames: ["pin.test"], notAfter: seconds))
            let server = try Self.server(version, keeps: keeps, chain: [leaf])
            let transport = try AttackBench.transport(AttackBench.trusting(anchors), to: server)
            let sent = try AttackBench.request(server)
            return (server, transport, await failure { try await transport.send(sent) })
        }
        #expect(first == nil)
        try await AttackBench.expectRefusal(.trustChain, "expired", of: server, by: transport, at: .request)
        await transport.shutdown()
        try await AttackBench.closed(server)
        #expect(server.requestCount == 1)
        #expect(server.handshakes.map(\.resumed) == (keeps ? [false] : [false, true]))
    }
}
