import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Sessions and contexts of a program that are used in the wrong place.
@Suite("An OpenSSL session in another context", .serialized)
struct SessionAttacks {
    static let versions: [ServerTLS.Version] = [.tls12, .tls13]

    private static func server(_ version: ServerTLS.Version, chain: String = "leaf") throws -> LoopbackServer {
        try AttackBench.server(chain) { ($0.minimumVersion, $0.maximumVersion) = (version, version) }
    }

    private static func pinned(_ host: String = "pin.test", identity: ClientIdentity? = nil) throws -> CompiledTrust {
        try CompiledTrust(
            AttackBench.policy([Fixture.key("leaf"), strangePin()], host: host, identity: identity))
    }

    /// The session of a connection that was made and used under a policy, or under none.
    private static func session(
        with server: LoopbackServer, under trust: CompiledTrust?, isLoose: Bool = false
    ) throws -> PeerSession {
        let connection = try PeerContext(trust, isLoose: isLoose).connect(to: server)
        try #require(connection.isEstablished)
        if let trust { #expect(try connection.failure(under: trust) == nil) }
        #expect(connection.exchange())
        return try #require(connection.session())
    }

    /// Resumes a session under a policy, judges it, and expects that the server sees no request.
    private func expectRefusal(
        _ reason: RequestFailure.Reason, of server: LoopbackServer, resuming session: PeerSession,
        under trust: CompiledTrust, host: String = "pin.test", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await AttackBench.closed(server)
        let before = AttackBench.Sight(server)
        let connection = try PeerContext(trust, host: host).connect(to: server, as: host, resuming: session)
        #expect(connection.isEstablished, sourceLocation: sourceLocation)
        // Without resumption the attack was not attempted.
        #expect(connection.isResumed, sourceLocation: sourceLocation)
        let found = try connection.failure(under: trust, host: host)
        #expect(found?.reason == reason, "\(String(describing: found))", sourceLocation: sourceLocation)
        AttackBench.expectNothingSeen(by: server, since: before, at: .request, sourceLocation: sourceLocation)
    }

    @Test("A session that was made without a policy is no evidence when it is resumed under one", arguments: versions)
    func withoutEvidence(version: ServerTLS.Version) async throws {
        let server = try Self.server(version)
        let session = try Self.session(with: server, under: nil)
        try await expectRefusal(.trustEvidence, of: server, resuming: session, under: Self.pinned())
    }

    @Test("A session with a rogue server from a context that accepts every peer is no evidence", arguments: versions)
    func ofRogue(version: ServerTLS.Version) async throws {
        let server = try Self.server(version, chain: "rogue-leaf")
        let session = try Self.session(with: server, under: nil, isLoose: true)
        try await expectRefusal(.trustEvidence, of: server, resuming: session, under: Self.pinned())
    }

    @Test("A session of another policy is refused even if that policy has the same pins", arguments: versions)
    func otherTrust(version: ServerTLS.Version) async throws {
        let server = try Self.server(version)
        let session = try Self.session(with: server, under: Self.pinned())
        try await expectRefusal(.otherTrust, of: server, resuming: session, under: Self.pinned())
    }

    @Test("A session that was made under other anchors is refused", arguments: versions)
    func otherAnchors(version: ServerTLS.Version) async throws {
        let server = try Self.server(version)
        let session = try Self.session(
            with: server, under: CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root"))))
        let others = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("rogue-root")))
        try await expectRefusal(.otherTrust, of: server, resuming: session, under: others)
    }

    @Test("A session for another host of the same policy is refused", arguments: versions)
    func otherHost(version: ServerTLS.Version) async throws {
        let server = try Self.server(version)
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        let session = try Self.session(with: server, under: trust)
        try await expectRefusal(.unexpectedPeer, of: server, resuming: session, under: trust, host: "other.test")
        // The session is accepted for the host that it was made for, so the host was the reason.
        try await AttackBench.closed(server)
        let connection = try PeerContext(trust).connect(to: server, resuming: session)
        #expect(connection.isResumed)
        #expect(try connection.failure(under: trust) == nil)
    }

    @Test("A session of the same policy and host is resumed and used", arguments: versions)
    func sameTrust(version: ServerTLS.Version) async throws {
        let server = try Self.server(version)
        let trust = try Self.pinned()
        var session = try Self.session(with: server, under: trust)
        for _ in 0..<3 {
            let connection = try PeerContext(trust).connect(to: server, resuming: session)
            #expect(connection.isResumed)
            #expect(try connection.failure(under: trust) == nil)
            #expect(connection.exchange())
            session = try #require(connection.session())
        }
        try await AttackBench.closed(server)
        #expect(server.handshakes.map(\.resumed) == [false, true, true, true])
    }

    @Test("A session is refused once its rule has expired, if it then refuses", arguments: versions)
    func outlivesRule(version: ServerTLS.Version) async throws {
        let (server, trust, session) = try await outlived { end in
            let server = try Self.server(version)
            let trust = try CompiledTrust(
                AttackBench.policy([Fixture.key("leaf"), strangePin()], expires: end, onExpiry: .refuse))
            let connection = try PeerContext(trust).connect(to: server)
            return (server, trust, connection.exchange() ? connection.session() : nil)
        }
        try await expectRefusal(.hostRefused, of: server, resuming: #require(session), under: trust)
    }

    @Test("A session is refused once the certificate that it was made with has expired", arguments: versions)
    func outlivesCertificate(version: ServerTLS.Version) async throws {
        let authority = try TestAuthority(name: "Short")
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])
        let (server, trust, session) = try await outlived { end in
            let seconds = Int64(end.timeIntervalSince1970) - Int64(Date().timeIntervalSince1970)
            let leaf = try authority.issue(.init(commonName: "pin.test", dnsNames: ["pin.test"], notAfter: seconds))
            let server = try AttackBench.server([leaf]) { ($0.minimumVersion, $0.maximumVersion) = (version, version) }
            let trust = try CompiledTrust(TrustPolicy(anchors: anchors))
            let connection = try PeerContext(trust).connect(to: server)
            return (server, trust, connection.exchange() ? connection.session() : nil)
        }
        try await expectRefusal(.trustChain, of: server, resuming: #require(session), under: trust)
    }

    // MARK: Contexts

    @Test("A session or connection that was made without a policy is refused by every policy", arguments: versions)
    func plainConnection(version: ServerTLS.Version) throws {
        let server = try Self.server(version)
        let connection = try PeerContext(nil).connect(to: server)
        #expect(connection.isEstablished)
        #expect(try connection.failure(under: Self.pinned())?.reason == .trustEvidence)
        #expect(server.applicationBytesReceived == 0)
    }

    @Test("No session is made under another name than the policy's host", arguments: versions)
    func otherName(version: ServerTLS.Version) async throws {
        let trust = try Self.pinned(identity: Fixture.identity("client-a"))
        for name in ["other.test", "a.pin.test", "127.0.0.1", "PIN.test"] {
            let server = try AttackBench.server("leaf") {
                ($0.minimumVersion, $0.maximumVersion) = (version, version)
                $0.clientAuthentication = .request
            }
            let before = AttackBench.Sight(server)
            let connection = try PeerContext(trust).connect(to: server, as: name)
            #expect(!connection.isEstablished, "\(name)")
            try await AttackBench.closed(server)
            AttackBench.expectNothingSeen(by: server, since: before, at: .handshake)
        }
    }

    @Test("No session is made with a server name if the policy is installed for an address", arguments: versions)
    func nameForAddress(version: ServerTLS.Version) async throws {
        let server = try Self.server(version, chain: "leaf-ip")
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        let before = AttackBench.Sight(server)
        let named = try PeerContext(trust, host: "127.0.0.1").connect(to: server, as: "pin.test")
        #expect(!named.isEstablished)
        try await AttackBench.closed(server)
        AttackBench.expectNothingSeen(by: server, since: before, at: .handshake)
        let addressed = try PeerContext(trust, host: "127.0.0.1").connect(to: server, as: "127.0.0.1")
        #expect(addressed.isEstablished)
        #expect(try addressed.failure(under: trust, host: "127.0.0.1") == nil)
    }

    struct Loosened: Sendable, CustomTestStringConvertible {
        var chain: String
        var anchors = ["root"]
        var pins = ["leaf"]
        var testDescription: String { chain }
    }

    static let loosened = [
        Loosened(chain: "rogue-leaf", pins: ["rogue-leaf"]), Loosened(chain: "leaf-expired", pins: ["leaf-expired"]),
        Loosened(chain: "leaf-future", pins: ["leaf-future"]), Loosened(chain: "self-signed", pins: ["self-signed"]),
        Loosened(chain: "leaf-other", pins: ["leaf-other"]), Loosened(chain: "leaf", pins: ["leaf-backup"]),
        Loosened(chain: "leaf-rsa1024", pins: ["leaf-rsa1024"]),
    ]

    @Test(
        "No session is made with a wrong peer by a context that accepted every peer before", arguments: loosened,
        versions)
    func loosenedBefore(_ attack: Loosened, version: ServerTLS.Version) async throws {
        let server = try AttackBench.server(attack.chain) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .request
        }
        let trust = try CompiledTrust(
            AttackBench.policy(attack.pins.map { try Fixture.key($0) }, identity: Fixture.identity("client-a")))
        let before = AttackBench.Sight(server)
        let connection = try PeerContext(trust, isLoose: true).connect(to: server)
        #expect(!connection.isEstablished)
        try await AttackBench.closed(server)
        AttackBench.expectNothingSeen(by: server, since: before, at: .handshake)
    }

    @Test(
        "No session is made below the minimum version by a context that accepted any version before",
        arguments: [TLSVersion.tls12, .tls13])
    func floor(_ floor: TLSVersion) async throws {
        let server = try Self.server(floor == .tls13 ? .tls12 : .tls11)
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf")], minimumTLS: floor))
        let before = AttackBench.Sight(server)
        let connection = try PeerContext(trust, isLoose: true).connect(to: server)
        #expect(!connection.isEstablished)
        try await AttackBench.closed(server)
        AttackBench.expectNothingSeen(by: server, since: before, at: .handshake)
    }

    @Test("A session is refused if its context was loosened after the policy was installed")
    func loosenedAfter() throws {
        let rogue = try Self.server(.tls13, chain: "rogue-leaf")
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("rogue-leaf"), Fixture.key("leaf")]))
        let loose = try PeerContext(trust)
        loose.loosen()
        let connection = try loose.connect(to: rogue)
        #expect(connection.isEstablished)
        #expect(try connection.failure(under: trust)?.reason == .trustEvidence)
        #expect(rogue.applicationBytesReceived == 0)
        let old = try Self.server(.tls12)
        let strict = try CompiledTrust(AttackBench.policy([Fixture.key("leaf")], minimumTLS: .tls13))
        let context = try PeerContext(strict)
        context.loosen()
        let lowered = try context.connect(to: old)
        #expect(lowered.isEstablished)
        #expect(try lowered.failure(under: strict)?.reason == .tlsTooOld)
        #expect(old.applicationBytesReceived == 0)
    }

    @Test("No session is made for a host that the policy refuses")
    func refusedHost() throws {
        let trust = try Self.pinned()
        let installing = #expect(throws: RequestFailure.self) { try PeerContext(trust, host: "other.test") }
        #expect(installing?.reason == .hostRefused)
        let server = try Self.server(.tls13)
        let connection = try PeerContext(trust).connect(to: server)
        #expect(try connection.failure(under: trust, host: "other.test")?.reason == .hostRefused)
    }
}
