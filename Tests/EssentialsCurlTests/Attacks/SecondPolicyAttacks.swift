import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A second policy on one SSL_CTX", .serialized)
struct SecondPolicyAttacks {
    private static func trust(
        staple: Bool = false, identity: String? = nil, pin: String = "leaf", minimumTLS: TLSVersion = .tls12
    ) throws -> CompiledTrust {
        try CompiledTrust(
            TrustPolicy(
                hosts: [HostRule("**.test", pins: PinSet([Fixture.key(pin), strangePin()]))],
                anchors: Fixture.anchors("root"), minimumTLS: minimumTLS,
                revocation: staple ? .stapled(isRequired: true) : .none,
                identity: identity.map { name in try Fixture.identity(name) }))
    }

    /// Policies that are installed first. They leave more state on a context than the second policy needs.
    static let firsts: [@Sendable () throws -> CompiledTrust] = [
        { try trust(staple: true) }, { try trust(identity: "client-a") }, { try trust(pin: "leaf-rekeyed") },
        { try trust(staple: true, identity: "client-a", minimumTLS: .tls13) },
    ]

    @Test("Another policy on a context is refused, and the first one still judges", arguments: firsts.indices)
    func otherPolicy(index: Int) throws {
        let server = try AttackBench.server { $0.staple = try Fixture.bytes("leaf.ocsp") }
        let second = try Self.trust()
        let context: PeerContext
        do {
            let first = try Self.firsts[index]()
            context = try PeerContext(first)
        }
        // Only the context keeps the first policy alive.
        for _ in 0..<3 {
            let found = #expect(throws: RequestFailure.self) { try context.install(second) }
            #expect(found?.reason == .otherTrust)
            #expect(found?.remedy == "Create an SSL_CTX for each policy and host.")
            let connection = try context.connect(to: server)
            #expect(connection.isEstablished == (index != 2))
            if connection.isEstablished {
                // The connection is no evidence for the second policy.
                #expect(try connection.failure(under: second)?.reason == .otherTrust)
            }
        }
    }

    @Test("Another host on a context is refused")
    func otherHost() throws {
        let trust = try Self.trust()
        let context = try PeerContext(trust)
        let found = #expect(throws: RequestFailure.self) { try context.install(trust, host: "other.test") }
        #expect(found?.reason == .otherTrust)
    }

    @Test("The same policy may be installed again for the same host, and forgets the last refusal")
    func again() throws {
        let (rogue, server) = try (AttackBench.server("rogue-leaf"), AttackBench.server())
        let trust = try Self.trust(staple: false, identity: "client-a")
        let context = try PeerContext(trust)
        #expect(try !context.connect(to: rogue).isEstablished)
        #expect(try context.refusal(under: trust)?.reason == .trustChain)
        try context.install(trust)
        #expect(try context.refusal(under: trust) == nil)
        let connection = try context.connect(to: server)
        #expect(connection.isEstablished)
        #expect(try connection.failure(under: trust) == nil)
        #expect(rogue.handshakes.allSatisfy { $0.clientCertificatePEM == nil })
    }
}
