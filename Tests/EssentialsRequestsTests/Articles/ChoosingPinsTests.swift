import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article ChoosingPins")
struct ChoosingPinsTests {
    @Test("The article on pins shows pins as text, pins of a certificate, and pins by host")
    func pins() async throws {
        let certificate = try TestCertificate.selfSigned(TestCertificate.Template(commonName: "localhost"))
        let text = certificate.certificatePEM

        do {
            // Article begins
            let policy = try TrustPolicy(pins: [
                .publicKey("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
                .publicKey("sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="),
            ])
            // Article ends
            guard case .pinned(let pins) = policy.unlistedHosts else { throw CancellationError() }
            #expect(pins.pins.count == 2)
        }

        do {
            let texts = [certificate.publicKeyPin, "sha256/n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="]
            let pins = try texts.map { try Pin.publicKey($0) }
            let policy = try TrustPolicy(pins: pins)
            guard case .pinned(let set) = policy.unlistedHosts else { throw CancellationError() }
            #expect(set.pins.map(\.text).sorted() == texts.sorted())
        }

        // Article begins
        let pin = try CertificateChain(PEM(text)).certificates[0].publicKeyPin
        let tested = try TrustPolicy(
            pins: [pin], acceptsSinglePin: true, anchors: .only([PEM(text)]))
        // Article ends
        #expect(pin.text == certificate.publicKeyPin)
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { _ in .response(status: 204) }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url), trust: tested)
        #expect(try await requests.get("").status == .noContent)
        await requests.shutdown()

        let (current, backup) = (certificate.publicKeyPin, "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        // Article begins
        let policy = try TrustPolicy(
            hosts: [
                HostRule(
                    "**.example.com",
                    pins: PinSet([.publicKey(current), .publicKey(backup)])),
                HostRule.unpinned("static.example.com"),
            ],
            unlistedHosts: .anchorsOnly)
        // Article ends
        #expect(policy.hosts.count == 2)
    }
}
