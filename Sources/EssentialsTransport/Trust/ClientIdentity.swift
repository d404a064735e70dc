/// The certificate and key by which a client shows who it is (mutual TLS).
///
/// ```swift
/// let identity = try ClientIdentity(
///     certificate: PEM(contentsOfFile: "client.pem"), encryptedKey: PEM(contentsOfFile: "client.key"),
///     passphrase: { try readPassphrase() })
/// ```
public struct ClientIdentity: Sendable {
    /// The client's certificate, then those of its chain.
    public let certificate: PEM
    /// Its private key.
    public let privateKey: PEM
    /// What the key is encrypted with; nil when it is not.
    let passphrase: (@Sendable () throws -> String)?

    /// Takes a certificate and its key, which is not encrypted.
    ///
    /// - Throws: `invalidPolicy` when one of the texts holds something else, or the key is encrypted.
    public init(certificate: PEM, privateKey: PEM) throws(RequestFailure) {
        guard !privateKey.isEncrypted else {
            throw RequestFailure(
                .invalidPolicy, "The client key is encrypted.", remedy: "Give its passphrase too, or decrypt it first.")
        }
        try self.init(certificate, privateKey, nil)
    }

    /// Takes a certificate and its encrypted key: PKCS #8, or the older form with `Proc-Type: 4,ENCRYPTED`.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate, then those of its chain.
    ///   - encryptedKey: Its private key.
    ///   - passphrase: Asked for the passphrase each time that a policy with the identity is compiled, on the thread that
    ///     compiles it. Its answer is not kept; an error from it ends the compilation as `invalidPolicy`.
    /// - Throws: `invalidPolicy` when one of the texts holds something else, or the key is not encrypted.
    public init(
        certificate: PEM, encryptedKey: PEM, passphrase: @escaping @Sendable () throws -> String
    ) throws(RequestFailure) {
        guard encryptedKey.isEncrypted || encryptedKey.keyLabel == nil else {
            throw RequestFailure(
                .invalidPolicy, "The client key is not encrypted.",
                remedy: "Leave the passphrase out, or give the encrypted file.")
        }
        try self.init(certificate, encryptedKey, passphrase)
    }

    private init(
        _ certificate: PEM, _ privateKey: PEM, _ passphrase: (@Sendable () throws -> String)?
    ) throws(RequestFailure) {
        guard certificate.labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) else {
            throw RequestFailure(
                .invalidPolicy, "The client certificate's text holds no certificate.",
                remedy: "Give the PEM file of the certificate first, that of the key second.")
        }
        guard privateKey.keyLabel != nil else {
            throw RequestFailure(
                .invalidPolicy, "The client key's text holds no private key.",
                remedy: "Give the PEM file of the certificate first, that of the key second.")
        }
        self.certificate = certificate
        self.privateKey = privateKey
        self.passphrase = passphrase
    }

    /// The passphrase of an encrypted key; nil for another. Asks whoever knows it.
    ///
    /// - Throws: `invalidPolicy` when that throws.
    public func readPassphrase() throws(RequestFailure) -> String? {
        guard let passphrase else { return nil }
        do {
            return try passphrase()
        } catch {
            throw RequestFailure(
                .invalidPolicy, "The passphrase of the client key could not be had.",
                remedy: "See the underlying error.", underlying: error)
        }
    }
}

extension ClientIdentity: Hashable {
    /// The same certificate and key. How the passphrase is had makes no difference.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.certificate == other.certificate && one.privateKey == other.privateKey
    }

    /// Hashes certificate and key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(certificate)
        hasher.combine(privateKey)
    }
}
