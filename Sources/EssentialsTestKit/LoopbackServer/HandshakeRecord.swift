internal import CEssentialsTest

/// One TLS handshake as the server saw it, also when it failed.
public struct HandshakeRecord: Sendable, Hashable {
    /// Which connection of the server, counted from 0.
    public let connection: Int
    /// Whether it was completed. A client that refuses the certificate makes it fail.
    public let succeeded: Bool
    /// Whether an earlier session was continued, without a new look at certificates.
    public let resumed: Bool
    /// "TLSv1.3", "TLSv1.2" …; meaningless when the handshake failed early.
    public let version: String
    /// The name in the client's server_name extension.
    public let serverName: String?
    /// The protocol chosen by ALPN.
    public let applicationProtocol: String?
    /// The certificate that the client showed, in this handshake or the one it resumes.
    public let clientCertificatePEM: String?
    /// Why the handshake failed, in OpenSSL's words.
    public let error: String?

    init(connection: Int, facts: cet_handshake, clientCertificatePEM: String?) {
        self.connection = connection
        succeeded = facts.succeeded
        resumed = facts.resumed
        version = CText.string(facts.version) ?? ""
        serverName = CText.string(facts.server_name)
        applicationProtocol = CText.string(facts.protocol)
        error = CText.string(facts.error)
        self.clientCertificatePEM = clientCertificatePEM
    }
}
