import EssentialsTransport
import Testing

@Suite struct TrustPolicyTests {
    private func pin(_ byte: UInt8, kind: Pin.Kind = .publicKey) throws -> Pin {
        try Pin(kind: kind, digest: Array(repeating: byte, count: 32))
    }

    @Test("The system's policy has no pins and requires TLS 1.2")
    func system() {
        #expect(TrustPolicy.system.unlistedHosts == .anchorsOnly)
        #expect(TrustPolicy.system.hosts.isEmpty)
        #expect(TrustPolicy.system.revocation == .none)
        #expect(TrustPolicy.system.anchors == .system)
        #expect(TrustPolicy.system.minimumTLS == .tls12)
        #expect(TrustPolicy.system.identity == nil)
        #expect(TrustPolicy() == .system)
        #expect(TLSVersion.tls12 < .tls13)
    }

    @Test("A policy returns its pins and settings")
    func pins() throws {
        let policy = try TrustPolicy(pins: [pin(1), pin(2)], minimumTLS: .tls13)
        #expect(try policy.unlistedHosts == .pinned(PinSet([pin(1), pin(2)])))
        #expect(policy.minimumTLS == .tls13)
        #expect(policy != .system)
    }

    @Test("An empty list of pins is refused even if a single pin is allowed", arguments: [false, true])
    func empty(acceptsSinglePin: Bool) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try TrustPolicy(pins: [], acceptsSinglePin: acceptsSinglePin)
        }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.contains("empty"))
    }

    @Test("A single pin is refused unless it is explicitly allowed")
    func single() throws {
        let failure = try #require(throws: RequestFailure.self) { try TrustPolicy(pins: [pin(1)]) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.remedy?.contains("backup") == true)
        let policy = try TrustPolicy(pins: [pin(1)], acceptsSinglePin: true)
        #expect(try policy.unlistedHosts == .pinned(PinSet([pin(1)], acceptsSinglePin: true)))
    }

    @Test("Pins with the same digest count once, even as a key and a certificate")
    func duplicates() throws {
        for pins in try [[pin(1), pin(1)], [pin(1), pin(1, kind: .certificate)]] {
            let failure = try #require(throws: RequestFailure.self) { try TrustPolicy(pins: pins) }
            #expect(failure.reason == .invalidPolicy)
            #expect(try PinSet(pins, acceptsSinglePin: true).pins.count == 2)
            #expect(try PinSet(pins, mode: .reportOnly).pins.count == 2)
        }
        #expect(try PinSet([pin(1), pin(2, kind: .certificate)]).pins.count == 2)
    }

    @Test("Identities with an encrypted key are equal only as copies, because their passphrases may differ")
    func passphrases() throws {
        func pem(_ label: String) throws -> PEM { try PEM("-----BEGIN \(label)-----\nAA==\n-----END \(label)-----\n") }
        func encrypted(_ passphrase: String) throws -> ClientIdentity {
            try ClientIdentity(
                certificate: pem("CERTIFICATE"), encryptedKey: pem("ENCRYPTED PRIVATE KEY"), passphrase: { passphrase })
        }
        let (one, other) = try (encrypted("right"), encrypted("wrong"))
        let copy = one
        #expect(one != other)
        #expect(one == copy)
        #expect(Set([one, other, copy]).count == 2)
        #expect(TrustPolicy(identity: one) != TrustPolicy(identity: other))
        #expect(TrustPolicy(identity: one) == TrustPolicy(identity: copy))
        #expect(try one.readPassphrase() == "right")
        #expect(try other.readPassphrase() == "wrong")
        let plain = try [0, 1].map { _ in
            try ClientIdentity(certificate: pem("CERTIFICATE"), privateKey: pem("PRIVATE KEY"))
        }
        #expect(plain[0] == plain[1])
        #expect(plain[0].hashValue == plain[1].hashValue)
    }
}
