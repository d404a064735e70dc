/// The certificate and key by which a client shows who it is (mutual TLS).
public struct ClientIdentity: Sendable, Hashable {
    /// The client's certificate, then those of its chain.
    public let certificate: PEM
    /// Its private key, not encrypted.
    public let privateKey: PEM

    /// Takes a certificate and its key.
    ///
    /// - Throws: `invalidPolicy` when one of the texts holds something else, or the key is encrypted.
    public init(certificate: PEM, privateKey: PEM) throws(RequestFailure) {
        guard certificate.labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) else {
            throw RequestFailure(
                .invalidPolicy, "The client certificate's text holds no certificate.",
                remedy: "Give the PEM file of the certificate first, that of the key second.")
        }
        guard let label = privateKey.labels.first(where: { $0.hasSuffix("PRIVATE KEY") }) else {
            throw RequestFailure(
                .invalidPolicy, "The client key's text holds no private key.",
                remedy: "Give the PEM file of the certificate first, that of the key second.")
        }
        guard label != "ENCRYPTED PRIVATE KEY", !privateKey.text.contains("Proc-Type: 4,ENCRYPTED") else {
            throw RequestFailure(
                .invalidPolicy, "The client key is encrypted.",
                remedy: "Decrypt it first, for example with “openssl pkey”.")
        }
        self.certificate = certificate
        self.privateKey = privateKey
    }
}
