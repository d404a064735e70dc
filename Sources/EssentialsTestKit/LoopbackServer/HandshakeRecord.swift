internal import CEssentialsTest

/// One TLS handshake as seen by the server, whether it succeeded or failed.
public struct HandshakeRecord: Sendable, Hashable {
    /// The index of the server's connection, counted from 0.
    public let connection: Int
    /// Whether the handshake completed. It fails if the client refuses the certificate.
    public let succeeded: Bool
    /// Whether an earlier session was resumed, in which case no certificates are exchanged.
    public let resumed: Bool
    /// The protocol version, such as "TLSv1.3"; meaningless if the handshake failed early.
    public let version: String
    /// The name in the client's server_name extension.
    public let serverName: String?
    /// The protocol selected by ALPN.
    public let applicationProtocol: String?
    /// The client's certificate from this handshake, or from the one that it resumes.
    public let clientCertificatePEM: String?
    /// OpenSSL's description of the failure.
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
