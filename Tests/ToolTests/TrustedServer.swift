import EssentialsTestKit

/// An HTTPS server, with what a client needs to trust it.
struct TrustedServer {
    let directory: TemporaryDirectory
    let authority: TestAuthority
    let certificate: TestCertificate
    let server: LoopbackServer
    /// The path of the authority's certificate.
    let anchor: String

    init(
        clientAuthentication: ServerTLS.ClientAuthentication = .none,
        maximumVersion: ServerTLS.Version = .tls13, authority: TestAuthority? = nil,
        handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "secret") }
    ) throws {
        directory = try TemporaryDirectory()
        self.authority = try authority ?? TestAuthority(name: "Tool Authority")
        certificate = try self.authority.issue(TestCertificate.Template(commonName: "localhost"))
        anchor = try directory.file("ca.pem", self.authority.certificate.certificatePEM)
        server = try LoopbackServer(
            tls: ServerTLS(
                certificate: certificate, maximumVersion: maximumVersion, clientAuthentication: clientAuthentication),
            handler: handler)
    }

    /// A pin that matches no certificate.
    static let strangePin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}
