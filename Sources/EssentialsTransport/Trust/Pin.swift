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

    /// Where in the verified chain it is looked for.
    public enum Scope: Sendable, Hashable {
        /// Anywhere, the root included.
        case any
        /// In the server's own certificate.
        case leaf
        /// In the certificates above it.
        case issuer
    }

    /// What the digest is taken of.
    public let kind: Kind
    /// Where it is looked for.
    public let scope: Scope
    /// The 32 bytes of the SHA-256 digest.
    public let digest: [UInt8]

    /// Makes a pin from a digest.
    ///
    /// - Throws: `invalidPolicy` when it is not 32 bytes.
    public init(kind: Kind, digest: [UInt8], scope: Scope = .any) throws(RequestFailure) {
        guard digest.count == 32 else {
            throw RequestFailure(
                .invalidPolicy, "A pin has \(digest.count) bytes instead of 32.",
                remedy: "Give the SHA-256 digest; “essentials pins” prints it.")
        }
        self.kind = kind
        self.scope = scope
        self.digest = digest
    }

    /// A public-key pin from its usual text, `sha256/` and Base64.
    ///
    /// - Throws: `invalidPolicy` when the text is anything else.
    public static func publicKey(_ text: String, scope: Scope = .any) throws(RequestFailure) -> Pin {
        try read(text, kind: .publicKey, scope: scope)
    }

    /// A certificate pin from its usual text, `sha256/` and Base64.
    ///
    /// - Throws: `invalidPolicy` when the text is anything else.
    public static func certificate(_ text: String, scope: Scope = .any) throws(RequestFailure) -> Pin {
        try read(text, kind: .certificate, scope: scope)
    }

    /// `sha256/` and Base64.
    public var text: String { "sha256/" + Base64.encoded(digest) }
    /// The text that logs show.
    public var description: String {
        let place = scope == .any ? "" : scope == .leaf ? " of the leaf" : " of an issuer"
        return (kind == .publicKey ? "public key " : "certificate ") + text + place
    }

    private static func read(_ text: String, kind: Kind, scope: Scope) throws(RequestFailure) -> Pin {
        guard text.hasPrefix("sha256/") else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is no pin.", remedy: "Write it as sha256/ and 44 characters of Base64.")
        }
        guard let digest = Base64.decoded(text.dropFirst("sha256/".count)) else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is not Base64 after sha256/.",
                remedy: "Use the standard alphabet with its padding: 44 characters for a SHA-256 digest.")
        }
        return try Pin(kind: kind, digest: digest, scope: scope)
    }
}
