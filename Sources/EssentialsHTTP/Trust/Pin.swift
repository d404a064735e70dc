/// A public key or a certificate that a server's verified chain must hold (RFC 7469, 2.4).
///
/// ```swift
/// let pin = try Pin.publicKey("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
/// ```
///
/// Pin public keys rather than certificates: they survive a renewal with the same key.
public struct Pin: Sendable, Hashable, CustomStringConvertible {
    /// What the digest is taken of.
    public enum Kind: Sendable, Hashable {
        /// The DER SubjectPublicKeyInfo.
        case publicKey
        /// The whole DER certificate.
        case certificate
    }

    /// What the digest is taken of.
    public let kind: Kind
    /// The 32 bytes of the SHA-256 digest.
    public let digest: [UInt8]

    /// Makes a pin from a digest.
    ///
    /// - Throws: `invalidPolicy` when it is not 32 bytes.
    public init(kind: Kind, digest: [UInt8]) throws(RequestFailure) {
        guard digest.count == 32 else {
            throw RequestFailure(
                .invalidPolicy, "A pin has \(digest.count) bytes instead of 32.",
                remedy: "Give the SHA-256 digest; “essentials pins” prints it.")
        }
        self.kind = kind
        self.digest = digest
    }

    /// A public-key pin from its usual text, `sha256/` and Base64.
    ///
    /// - Throws: `invalidPolicy` when the text is anything else.
    public static func publicKey(_ text: String) throws(RequestFailure) -> Pin { try read(text, kind: .publicKey) }

    /// A certificate pin from its usual text, `sha256/` and Base64.
    ///
    /// - Throws: `invalidPolicy` when the text is anything else.
    public static func certificate(_ text: String) throws(RequestFailure) -> Pin { try read(text, kind: .certificate) }

    /// `sha256/` and Base64.
    public var text: String { "sha256/" + Base64.encoded(digest) }
    /// The text that logs show.
    public var description: String { (kind == .publicKey ? "public key " : "certificate ") + text }

    private static func read(_ text: String, kind: Kind) throws(RequestFailure) -> Pin {
        guard text.hasPrefix("sha256/") else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is no pin.", remedy: "Write it as sha256/ and 44 characters of Base64.")
        }
        guard let digest = Base64.decoded(text.dropFirst("sha256/".count)) else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is not Base64 after sha256/.",
                remedy: "Use the standard alphabet with its padding: 44 characters for a SHA-256 digest.")
        }
        return try Pin(kind: kind, digest: digest)
    }
}
