import EssentialsTransport
import Testing

@Suite struct ClientIdentityTests {
    private func pem(_ labels: String..., heading: String = "") throws -> PEM {
        try PEM(labels.map { "-----BEGIN \($0)-----\n\(heading)AAAA\n-----END \($0)-----\n" }.joined())
    }

    @Test(
        "A certificate and its unencrypted key are accepted",
        arguments: ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"])
    func plain(label: String) throws {
        let certificate = try pem("CERTIFICATE", "CERTIFICATE")
        let key = try pem(label)
        let identity = try ClientIdentity(certificate: certificate, privateKey: key)
        #expect(identity.certificate == certificate)
        #expect(identity.privateKey == key)
    }

    @Test("One text can contain the certificate and the key")
    func together() throws {
        let both = try pem("CERTIFICATE", "PRIVATE KEY")
        #expect(try ClientIdentity(certificate: both, privateKey: both).privateKey == both)
    }

    @Test("Texts in the wrong order or without the expected contents are refused")
    func swapped() throws {
        let (certificate, key) = (try pem("CERTIFICATE"), try pem("PRIVATE KEY"))
        for pair in [(key, key), (key, certificate), (certificate, certificate), (try pem("X509 CRL"), key)] {
            let failure = try #require(throws: RequestFailure.self) {
                try ClientIdentity(certificate: pair.0, privateKey: pair.1)
            }
            #expect(failure.reason == .invalidPolicy)
            #expect(failure.remedy == "Pass the PEM file of the certificate first and that of the key second.")
        }
    }

    @Test("An encrypted key is refused with the advice to decrypt it")
    func encrypted() throws {
        let certificate = try pem("CERTIFICATE")
        let keys = [
            try pem("ENCRYPTED PRIVATE KEY"),
            try pem("RSA PRIVATE KEY", heading: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"),
        ]
        for key in keys {
            let failure = try #require(throws: RequestFailure.self) {
                try ClientIdentity(certificate: certificate, privateKey: key)
            }
            #expect(failure.reason == .invalidPolicy)
            #expect(failure.message == "The client key is encrypted.")
        }
    }
}
