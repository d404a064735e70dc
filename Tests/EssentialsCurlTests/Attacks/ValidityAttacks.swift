import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Attacks: validity", .serialized)
struct ValidityAttacks {
    /// The pins match the chain, or are wrong and only report. In neither case is an invalid certificate accepted.
    static let modes = [PinSet.Mode.enforce, .reportOnly]

    /// Expects a refusal under a rule whose pins match the chain, and under a rule that would only report their
    /// mismatch. The clients have a certificate that must not be revealed.
    private func expectRefusal(
        _ reason: RequestFailure.Reason, _ text: String, of chain: String, host: String = "pin.test", mode: PinSet.Mode,
        pinned: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let server = try AttackBench.server(chain)
        let names = [String(chain.prefix { $0 != "." })] + pinned
        let right = try names.flatMap { try [Fixture.key($0), Fixture.whole($0)] } + [Fixture.key("root")]
        for pins in try [right, [strangePin()]] where mode == .reportOnly || pins == right {
            let policy = try AttackBench.policy(pins, mode: mode, host: host, identity: Fixture.identity("client-a"))
            try await AttackBench.expectRefusal(
                reason, text, of: server, host: host, under: policy, sourceLocation: sourceLocation)
        }
    }

    @Test("An expired certificate is refused", arguments: modes)
    func expired(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "certificate has expired (X.509 error 10 at depth 0)", of: "leaf-expired", mode: mode)
    }

    @Test("A certificate that is not valid yet is refused", arguments: modes)
    func future(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "certificate is not yet valid (X.509 error 9 at depth 0)", of: "leaf-future", mode: mode)
    }

    @Test("A certificate for another host is refused even if its authority and pins are right", arguments: modes)
    func wrongHost(mode: PinSet.Mode) async throws {
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf-wrong-host", mode: mode)
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf", host: "other.test", mode: mode)
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf", host: "a.pin.test", mode: mode)
    }

    @Test("A certificate with the host only in its common name is refused", arguments: modes)
    func commonNameOnly(mode: PinSet.Mode) async throws {
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf-cn-only", mode: mode)
    }

    @Test("A wildcard matches neither its own parent name nor two more labels", arguments: modes)
    func wildcard(mode: PinSet.Mode) async throws {
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf-wild", mode: mode)
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf-wild", host: "b.a.pin.test", mode: mode)
        let server = try AttackBench.server("leaf-wild")
        let policy = try AttackBench.policy([Fixture.key("leaf-wild")], mode: mode, host: "a.pin.test")
        try await AttackBench.expectSuccess(of: server, host: "a.pin.test", under: policy)
    }

    @Test(
        "A wildcard for a part of a label, or for a whole domain, matches no host", arguments: modes
    )
    func partialWildcard(mode: PinSet.Mode) async throws {
        let issuer = try Fixture.certificate("intermediate")
        for name in ["a*.pin.test", "*a.pin.test", "*.test", "*", "a.*.test"] {
            let leaf = try issuer.issue(.init(commonName: "a.pin.test", dnsNames: [name]))
            let server = try AttackBench.server([leaf, issuer])
            let policy = try AttackBench.policy([Fixture.key("intermediate")], mode: mode, host: "a.pin.test")
            try await AttackBench.expectRefusal(
                .trustHost, "hostname mismatch", of: server, host: "a.pin.test", under: policy)
        }
    }

    @Test(
        "A wildcard for a part of an internationalised label matches no host, but one for the whole label does",
        arguments: modes)
    func internationalisedWildcard(mode: PinSet.Mode) async throws {
        let issuer = try Fixture.certificate("intermediate")
        let host = "xn--bcher-kva.pin.test"
        let policy = try AttackBench.policy([Fixture.key("intermediate")], mode: mode, host: host)
        for name in ["xn--*.pin.test", "xn--b*.pin.test", "x*.pin.test", "*kva.pin.test", "xn--bcher-kva.*"] {
            let leaf = try issuer.issue(.init(commonName: host, dnsNames: [name]))
            try await AttackBench.expectRefusal(
                .trustHost, "hostname mismatch", of: AttackBench.server([leaf, issuer]), host: host, under: policy)
        }
        try await AttackBench.expectSuccess(of: AttackBench.server("leaf-wild"), host: host, under: policy)
    }

    @Test("An address needs a certificate that holds it as an address", arguments: modes)
    func address(mode: PinSet.Mode) async throws {
        try await expectRefusal(.trustHost, "IP address mismatch", of: "leaf", host: "127.0.0.1", mode: mode)
        let issuer = try Fixture.certificate("intermediate")
        let named = try issuer.issue(.init(commonName: "127.0.0.1", dnsNames: ["127.0.0.1"], ipAddresses: []))
        let policy = try AttackBench.policy([Fixture.key("intermediate")], mode: mode, host: "127.0.0.1")
        try await AttackBench.expectRefusal(
            .trustHost, "IP address mismatch", of: AttackBench.server([named, issuer]), host: "127.0.0.1", under: policy
        )
        try await AttackBench.expectSuccess(of: AttackBench.server("leaf-ip"), host: "127.0.0.1", under: policy)
        try await expectRefusal(.trustHost, "hostname mismatch", of: "leaf-ip", mode: mode)
    }

    @Test("An IPv6 address is compared as an address", arguments: modes)
    func addressIPv6(mode: PinSet.Mode) async throws {
        let options = ServerOptions(address: .ipv6)
        let good = try AttackBench.server("leaf-ip", options: options)
        let bad = try AttackBench.server("leaf", options: options)
        let policy = try AttackBench.policy([Fixture.key("intermediate")], mode: mode, host: "::1")
        try await AttackBench.expectSuccess(of: good, host: "[::1]", under: policy)
        try await AttackBench.expectSuccess(of: good, host: "[0:0:0:0:0:0:0:1]", under: policy)
        try await AttackBench.expectRefusal(.trustHost, "IP address mismatch", of: bad, host: "[::1]", under: policy)
    }

    @Test("A certificate for clients is refused", arguments: modes)
    func clientUsage(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "certificate purpose (X.509 error 26 at depth 0)", of: "leaf-client-eku", mode: mode)
    }

    @Test("A certificate whose key is too short is refused", arguments: modes)
    func shortKey(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "key too weak (X.509 error 66 at depth 0)", of: "leaf-rsa1024", mode: mode)
    }

    @Test("A short key is refused even if the system's OpenSSL is configured to accept it")
    func shortKeyByConfiguration() async throws {
        // The test runs in its own process, where OpenSSL has not read its configuration yet.
        await #expect(processExitsWith: .success) {
            try await AttackBench.expectRefusalDespiteConfiguration("X.509 error 66", of: "leaf-rsa1024")
        }
    }

    @Test("A self-signed certificate is refused even if it is pinned", arguments: modes)
    func selfSigned(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "self-signed certificate (X.509 error 18 at depth 0)", of: "self-signed", mode: mode)
    }

    @Test("A self-signed certificate with the pinned chain appended is refused", arguments: modes)
    func selfSignedWithChain(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "self-signed certificate (X.509 error 18 at depth 0)", of: "self-signed.chain-with-pinned",
            mode: mode, pinned: ["leaf", "intermediate"])
    }

    @Test("The certificate of an untrusted authority is refused", arguments: modes)
    func unknownAuthority(mode: PinSet.Mode) async throws {
        try await expectRefusal(
            .trustChain, "unable to get local issuer certificate (X.509 error 20 at depth 0)", of: "private-leaf",
            mode: mode, pinned: ["private-root"])
    }

    @Test("An untrusted authority that presents its own root is refused", arguments: modes)
    func unknownAuthorityWithRoot(mode: PinSet.Mode) async throws {
        let chain = try [Fixture.certificate("private-leaf"), Fixture.certificate("private-root")]
        let policy = try AttackBench.policy([Fixture.key("private-root"), Fixture.key("private-leaf")], mode: mode)
        try await AttackBench.expectRefusal(
            .trustChain, "X.509 error 19", of: AttackBench.server(chain), under: policy)
    }

    @Test(
        "A server with TLS 1.1 is refused, and one with TLS 1.2 if the minimum is TLS 1.3",
        arguments: modes)
    func oldVersions(mode: PinSet.Mode) async throws {
        for (newest, floor) in [
            (ServerTLS.Version.tls10, TLSVersion.tls12), (.tls11, .tls12), (.tls11, .tls13), (.tls12, .tls13),
        ] {
            let server = try AttackBench.server {
                ($0.minimumVersion, $0.maximumVersion, $0.clientAuthentication) = (.tls10, newest, .request)
            }
            let policy = try AttackBench.policy(
                [Fixture.key("leaf")], mode: mode, minimumTLS: floor, identity: Fixture.identity("client-a"))
            try await AttackBench.expectRefusal(.tlsTooOld, of: server, under: policy)
        }
        let newest = try AttackBench.server { ($0.minimumVersion, $0.maximumVersion) = (.tls10, .tls13) }
        let policy = try AttackBench.policy([Fixture.key("leaf")], mode: mode, minimumTLS: .tls13)
        try await AttackBench.expectSuccess(of: newest, under: policy)
        #expect(newest.handshakes.last?.version == "TLSv1.3")
    }
}
