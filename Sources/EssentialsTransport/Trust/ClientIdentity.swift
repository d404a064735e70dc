/// The certificate and key by which a client shows who it is (mutual TLS).
///
/// ```swift
/// let identity = try ClientIdentity(
///     certificate: PEM(contentsOfFile: "client.pem"), encryptedKey: PEM(contentsOfFile: "client.key"),
///     passphrase: { try readPassphrase() })
/// ```
public struct ClientIdentity: Sendable {
    /// Where a passphrase comes from. An object, because closures cannot be compared.
    private final class PassphraseSource: Sendable {
        let read: @Sendable () throws -> String

        init(_ read: @escaping @Sendable () throws -> String) { self.read = read }
    }

    /// The client's certificate, then those of its chain.
    public let certificate: PEM
    /// Its private key.
    public let privateKey: PEM
    /// What the key is encrypted with; nil when it is not.
    private let passphrase: PassphraseSource?

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
        try self.init(certificate, encryptedKey, PassphraseSource(passphrase))
    }

    private init(
        _ certificate: PEM, _ privateKey: PEM, _ passphrase: PassphraseSource?
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
            return try passphrase.read()
        } catch {
            throw RequestFailure(
                .invalidPolicy, "The passphrase of the client key could not be had.",
                remedy: "See the underlying error.", underlying: error)
        }
    }
}

extension ClientIdentity: Hashable {
    /// The same certificate, key and source of the passphrase.
    ///
    /// A passphrase is read when a policy is compiled and not before, so that two identities with an encrypted key are
    /// equal only if one is a copy of the other. Make such an identity once and copy it: `CurlTransports` keeps a
    /// transport for each different policy.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.certificate == other.certificate && one.privateKey == other.privateKey
            && one.passphrase === other.passphrase
    }

    /// Hashes certificate, key and source of the passphrase.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(certificate)
        hasher.combine(privateKey)
        hasher.combine(passphrase.map(ObjectIdentifier.init))
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The labels of certificate and key, never their contents.
    public var description: String {
        let labels = certificate.labels + privateKey.labels
        return "ClientIdentity (\(labels.joined(separator: ", ")))"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Certificate and key by their labels, so that dumping a policy shows no key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate, "privateKey": privateKey]) }
}
