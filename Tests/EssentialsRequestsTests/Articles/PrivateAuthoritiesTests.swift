import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article PrivateAuthorities")
struct PrivateAuthoritiesTests {
    @Test("The article on private authorities shows certificates and a key from texts")
    func texts() async throws {
        let own = try TestAuthority(name: "Test authority")
        let client = try own.issue(TestCertificate.Template(commonName: "client"))
        let (authorityText, certificateText) = (own.certificate.certificatePEM, client.certificatePEM)
        let keyText = client.privateKeyPEM

        // Article begins
        let authority = try PEM(authorityText)
        let identity = try ClientIdentity(
            certificate: PEM(certificateText), privateKey: PEM(keyText))
        let policy = TrustPolicy(
            anchors: try .only([authority]), identity: identity)
        // Article ends

        let server = try LoopbackServer(
            tls: ServerTLS(
                certificate: own.issue(TestCertificate.Template(commonName: "localhost")),
                clientAuthentication: .require(anchor: own.certificate))
        ) { _ in .response(status: 204) }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url), trust: policy)
        #expect(try await requests.get("").status == .noContent)
        await requests.shutdown()
    }
}
