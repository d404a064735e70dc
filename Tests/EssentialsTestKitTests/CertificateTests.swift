import EssentialsTestKit
import Testing

@Suite struct CertificateTests {
    @Test func `Pins are digests of the certificate and of its key`() throws {
        let authority = try TestAuthority(name: "CA")
        let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let renewed = try authority.issue(
            TestCertificate.Template(commonName: "localhost", key: .existing(leaf.privateKeyPEM)))
        #expect(leaf.certificatePin.hasPrefix("sha256/"))
        #expect(leaf.certificatePin.count == 7 + 44)
        #expect(renewed.publicKeyPin == leaf.publicKeyPin)
        #expect(renewed.certificatePin != leaf.certificatePin)
        #expect(renewed.publicKeyDER == leaf.publicKeyDER)
        #expect(leaf.publicKeyPin != authority.certificate.publicKeyPin)
        #expect(leaf.der.first == 0x30)
    }

    @Test func `Known bytes have known pins`() throws {
        let certificate = try TestCertificate(certificatePEM: Self.knownPEM, privateKeyPEM: "")
        #expect(certificate.certificatePin == Self.knownPin)
        #expect(certificate.publicKeyPin == Self.knownKeyPin)
    }

    @Test func `Certificates and keys are PEM and never the same twice`() throws {
        let first = try TestAuthority(name: "CA").certificate
        let second = try TestAuthority(name: "CA").certificate
        #expect(first.certificatePEM.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
        #expect(first.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(first != second)
    }

    @Test func `Certificates that cannot be created fail with a readable error`() throws {
        let authority = try TestAuthority(name: "CA")
        #expect(throws: TestKitError.self) {
            try authority.issue(TestCertificate.Template(commonName: "x", ipAddresses: ["300.1.1.1"]))
        }
        #expect(throws: TestKitError.self) {
            try authority.issue(TestCertificate.Template(commonName: "x", key: .existing("nonsense")))
        }
        #expect(throws: TestKitError.self) { try TestAuthority(name: "x", key: .rsa(8)) }
        #expect(throws: TestKitError.self) { try TestCertificate(certificatePEM: "nonsense", privateKeyPEM: "") }
        let stranger = try TestCertificate(
            certificatePEM: authority.certificate.certificatePEM,
            privateKeyPEM: TestAuthority(name: "other").certificate.privateKeyPEM)
        #expect(throws: TestKitError.self) {
            _ = try LoopbackServer(tls: ServerTLS(certificate: stranger)) { _ in .response() }
        }
    }

    // Created with the `openssl` command, which also computed its digests.
    private static let knownPin = "sha256/emquK1KtL3v69/dXVeQhIJv3SxEHm8u4L0AJgf+c9gI="
    private static let knownKeyPin = "sha256/BQlqf117J9Ph+u5R8l4xCzj0pfrVTWzy5gmtohCfnmM="
    private static let knownPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBdzCCAR2gAwIBAgIUB7PJ1ssGFLkxL+Niu1DDqqqo3dkwCgYIKoZIzj0EAwIw
        EDEOMAwGA1UEAwwFa25vd24wIBcNMjYxMTIxMDgzOTQyWhgPMjEyNjEwMjgwODM5
        NDJaMBAxDjAMBgNVBAMMBWtub3duMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
        yE1vdM6THJ7N/PuI1BjNqM5v1eoyeOrrr2m+iZuReBuMpCuBSHD0Po6q4Km4rQR2
        Feo7v48kP0d3/cocliIszqNTMFEwHQYDVR0OBBYEFI5g75DwitjyiYCDyOYH8Rxa
        L8OKMB8GA1UdIwQYMBaAFI5g75DwitjyiYCDyOYH8RxaL8OKMA8GA1UdEwEB/wQF
        MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAOWMwGPx5a4u2cH+jVIMv/lAE+9/I+Qm
        zo2j65ZHMi/UAiAEfdVa9wj6eKZmohTcA15iuiBGwrFNJnPQGC4bJQXtsw==
        -----END CERTIFICATE-----
        """
}
