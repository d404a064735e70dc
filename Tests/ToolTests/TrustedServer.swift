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

    /// A server that requires a client's certificate, and the options for one that it accepts.
    static func requiringCertificate() throws -> (server: TrustedServer, options: [String]) {
        let authority = try TestAuthority(name: "Tool Authority")
        let client = try authority.issue(TestCertificate.Template(commonName: "client"))
        let server = try TrustedServer(
            clientAuthentication: .require(anchor: authority.certificate), authority: authority)
        let certificate = try server.directory.file("client.pem", client.certificatePEM)
        let key = try server.directory.file("client.key", client.privateKeyPEM)
        return (server, ["--client-cert", certificate, "--client-key", key])
    }

    /// A pin that matches no certificate.
    static let strangePin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}
