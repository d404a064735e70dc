import EssentialsTransport
import Testing

@Suite struct TrustPolicyTests {
    private func pin(_ byte: UInt8, kind: Pin.Kind = .publicKey) throws -> Pin {
        try Pin(kind: kind, digest: Array(repeating: byte, count: 32))
    }

    @Test("The system's policy has no pins and asks for TLS 1.2")
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

    @Test("A policy gives back its pins and settings")
    func pins() throws {
        let policy = try TrustPolicy(pins: [pin(1), pin(2)], minimumTLS: .tls13)
        #expect(try policy.unlistedHosts == .pinned(PinSet([pin(1), pin(2)])))
        #expect(policy.minimumTLS == .tls13)
        #expect(policy != .system)
    }

    @Test("An empty list of pins is refused, even where a single pin would do", arguments: [false, true])
    func empty(acceptsSinglePin: Bool) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try TrustPolicy(pins: [], acceptsSinglePin: acceptsSinglePin)
        }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.message.contains("empty"))
    }

    @Test("A single pin is refused unless it is accepted explicitly")
    func single() throws {
        let failure = try #require(throws: RequestFailure.self) { try TrustPolicy(pins: [pin(1)]) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.remedy.contains("backup"))
        let policy = try TrustPolicy(pins: [pin(1)], acceptsSinglePin: true)
        #expect(try policy.unlistedHosts == .pinned(PinSet([pin(1)], acceptsSinglePin: true)))
    }

    @Test("Two equal pins count as one, and the same digest of key and certificate as two")
    func duplicates() throws {
        let failure = try #require(throws: RequestFailure.self) { try TrustPolicy(pins: [pin(1), pin(1)]) }
        #expect(failure.reason == .invalidPolicy)
        #expect(try PinSet([pin(1), pin(1, kind: .certificate)]).pins.count == 2)
    }
}
