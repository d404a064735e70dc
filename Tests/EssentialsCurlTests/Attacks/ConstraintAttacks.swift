import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Certificates with a valid signature of a trusted authority that are refused because of other contents.
@Suite("Attacks: constraints, names and digests", .serialized)
struct ConstraintAttacks {
    static let modes = [PinSet.Mode.enforce, .reportOnly]
    static let versions = [ServerTLS.Version.tls12, .tls13]

    private static func server(_ chain: String, _ version: ServerTLS.Version) throws -> LoopbackServer {
        try AttackBench.server(chain) {
            ($0.minimumVersion, $0.maximumVersion, $0.clientAuthentication) = (version, version, .request)
        }
    }

    /// A policy whose pins match the chain, or are wrong and only report. Its client has a certificate.
    private static func policy(
        _ chain: String, mode: PinSet.Mode = .enforce, host: String = "pin.test", anchors: TrustAnchors? = nil
    ) throws -> TrustPolicy {
        let pins = try mode == .enforce ? [Fixture.key(chain), Fixture.whole(chain)] : [strangePin()]
        return try AttackBench.policy(
            pins, mode: mode, host: host, anchors: anchors, identity: Fixture.identity("client-a"))
    }

    // MARK: Name constraints

    @Test("An authority with name constraints vouches only for the permitted names", arguments: versions)
    func insideConstraints(version: ServerTLS.Version) async throws {
        let server = try Self.server("leaf-inside", version)
        for anchor in ["root", "constrained-ca"] {
            try await AttackBench.expectSuccess(
                of: server, under: Self.policy("leaf-inside", anchors: Fixture.anchors(anchor)))
        }
    }

    /// A certificate of an authority that is constrained to `pin.test`, and the host that presents it.
    struct Outside: Sendable, CustomTestStringConvertible {
        let chain, host: String
        var testDescription: String { "\(chain) for \(host)" }
    }

    static let outside = [
        Outside(chain: "leaf-outside", host: "other.test"), Outside(chain: "leaf-half-outside", host: "other.test"),
        // The authority may vouch for the requested name. The other name makes the whole certificate invalid.
        Outside(chain: "leaf-half-outside", host: "pin.test"),
    ]

    @Test(
        "A name outside the authority's constraints is refused even if it is pinned",
        arguments: outside, versions)
    func outsideConstraints(_ attack: Outside, version: ServerTLS.Version) async throws {
        let server = try Self.server(attack.chain, version)
        for mode in Self.modes {
            for anchor in ["root", "constrained-ca"] {
                let policy = try Self.policy(
                    attack.chain, mode: mode, host: attack.host, anchors: Fixture.anchors(anchor))
                try await AttackBench.expectRefusal(
                    .trustChain, "permitted subtree violation (X.509 error 47 at depth 0)", of: server,
                    host: attack.host, under: policy)
            }
        }
    }

    // MARK: Names with a NUL

    @Test("A name with a NUL is not the name before the NUL", arguments: versions)
    func nameWithNul(version: ServerTLS.Version) async throws {
        #expect(try Fixture.certificate("leaf-nul").der.holds("pin.test\0.evil.test"), "the fixture has another name")
        let server = try Self.server("leaf-nul", version)
        for mode in Self.modes {
            try await AttackBench.expectRefusal(
                .trustHost, "hostname mismatch", of: server, under: Self.policy("leaf-nul", mode: mode))
        }
    }

    @Test(
        "A name with a NUL is not the name of any other host",
        arguments: ["pin.test", "pin.test.evil.test", "evil.test", "a.evil.test", "other.test", "127.0.0.1"])
    func nameWithNulForOthers(host: String) throws {
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        let chain = try Fixture.chain("leaf-nul").map(\.der)
        let name = try HostName(host)
        let found = #expect(throws: RequestFailure.self) { try trust.evaluate(chain: chain, host: name) }
        #expect(found?.reason == .trustHost)
    }

    // MARK: Digests

    @Test("A certificate that was signed with SHA-1 is refused", arguments: versions)
    func weakDigest(version: ServerTLS.Version) async throws {
        let server = try Self.server("leaf-sha1", version)
        for mode in Self.modes {
            let found = try await AttackBench.expectRefusal(
                .trustChain, "CA signature digest algorithm too weak (X.509 error 68 at depth 0)", of: server,
                under: Self.policy("leaf-sha1", mode: mode))
            #expect(found?.phase == .handshake)
        }
    }

    @Test("A weak digest is refused even if the system's OpenSSL is configured to accept it")
    func weakDigestByConfiguration() async throws {
        // The test runs in its own process, where OpenSSL has not read its configuration yet.
        await #expect(processExitsWith: .success) {
            try await AttackBench.expectRefusalDespiteConfiguration("X.509 error 68", of: "leaf-sha1")
        }
    }
}
