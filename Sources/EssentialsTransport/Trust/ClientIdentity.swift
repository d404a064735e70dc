/// The certificate and private key with which a client authenticates itself (mutual TLS).
///
/// ```swift
/// let identity = try ClientIdentity(
///     certificate: PEM(contentsOfFile: "client.pem"), encryptedKey: PEM(contentsOfFile: "client.key"),
///     passphrase: { try readPassphrase() })
/// ```
public struct ClientIdentity: Sendable {
    /// The source of a passphrase. A class, because closures cannot be compared.
    private final class PassphraseSource: Sendable {
        let read: @Sendable () throws -> String

        init(_ read: @escaping @Sendable () throws -> String) { self.read = read }
    }

    /// The client's certificate, followed by those of its chain.
    public let certificate: PEM
    /// The private key.
    public let privateKey: PEM
    /// The source of the key's passphrase; `nil` if the key is not encrypted.
    private let passphrase: PassphraseSource?

    /// Creates an identity with a key that is not encrypted.
    ///
    /// - Throws: `invalidPolicy` if a text contains no certificate or key, or if the key is encrypted.
    public init(certificate: PEM, privateKey: PEM) throws(RequestFailure) {
        guard !privateKey.isEncrypted else {
            throw RequestFailure(
                .invalidPolicy, "The client key is encrypted.",
                remedy: "Provide its passphrase, or decrypt the key first.")
        }
        try self.init(certificate, privateKey, nil)
    }

    /// Creates an identity with an encrypted key: PKCS #8, or the older form with `Proc-Type: 4,ENCRYPTED`.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate, followed by those of its chain.
    ///   - encryptedKey: The private key.
    ///   - passphrase: Returns the passphrase. It is called each time a policy with the identity is compiled, on the
    ///     thread that compiles it, and the result is not kept. If it throws, compilation fails with `invalidPolicy`.
    /// - Throws: `invalidPolicy` if a text contains no certificate or key, or if the key is not encrypted.
    public init(
        certificate: PEM, encryptedKey: PEM, passphrase: @escaping @Sendable () throws -> String
    ) throws(RequestFailure) {
        guard encryptedKey.isEncrypted || encryptedKey.keyLabel == nil else {
            throw RequestFailure(
                .invalidPolicy, "The client key is not encrypted.",
                remedy: "Omit the passphrase, or provide the encrypted file.")
        }
        try self.init(certificate, encryptedKey, PassphraseSource(passphrase))
    }

    private init(
        _ certificate: PEM, _ privateKey: PEM, _ passphrase: PassphraseSource?
    ) throws(RequestFailure) {
        guard certificate.labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) else {
            throw RequestFailure(
                .invalidPolicy, "The text of the client certificate contains no certificate.",
                remedy: "Pass the PEM file of the certificate first and that of the key second.")
        }
        guard privateKey.keyLabel != nil else {
            throw RequestFailure(
                .invalidPolicy, "The text of the client key contains no private key.",
                remedy: "Pass the PEM file of the certificate first and that of the key second.")
        }
        self.certificate = certificate
        self.privateKey = privateKey
        self.passphrase = passphrase
    }

    /// Reads the passphrase of an encrypted key from its source; `nil` for an unencrypted key.
    ///
    /// - Throws: `invalidPolicy` if the source throws.
    public func readPassphrase() throws(RequestFailure) -> String? {
        guard let passphrase else { return nil }
        do {
            return try passphrase.read()
        } catch {
            throw RequestFailure(
                .invalidPolicy, "The passphrase of the client key could not be obtained.",
                remedy: "See the underlying error.", underlying: error)
        }
    }
}

extension ClientIdentity: Hashable {
    /// Whether certificate, key and source of the passphrase are the same.
    ///
    /// The passphrase itself is read only when a policy is compiled, so two identities with encrypted keys are equal
    /// only if one is a copy of the other. Create such an identity once and copy it, because `CurlTransports` keeps one
    /// transport for each different policy.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.certificate == other.certificate && one.privateKey == other.privateKey
            && one.passphrase === other.passphrase
    }

    /// Hashes the certificate, the key and the source of the passphrase.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(certificate)
        hasher.combine(privateKey)
        hasher.combine(passphrase.map(ObjectIdentifier.init))
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The labels of the certificate and the key, without their contents.
    public var description: String {
        let labels = certificate.labels + privateKey.labels
        return "ClientIdentity (\(labels.joined(separator: ", ")))"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The certificate and the key by their labels, so that a dump of a policy shows no key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate, "privateKey": privateKey]) }
}
