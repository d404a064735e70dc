#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The digest of a public key or certificate that must occur in a server's verified chain (RFC 7469, section 2.4).
///
/// ```swift
/// let pin = try Pin.publicKey("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
/// ```
///
/// Pin public keys rather than certificates: they survive a renewal with the same key.
public struct Pin: Sendable, Hashable, CustomStringConvertible {
    /// The object whose digest is pinned.
    public enum Kind: Sendable, Hashable {
        /// The DER SubjectPublicKeyInfo.
        case publicKey
        /// The whole DER certificate.
        case certificate
    }

    /// The part of the verified chain in which a pin must match.
    public enum Scope: Sendable, Hashable {
        /// Any certificate, including the root.
        case any
        /// The server's own certificate.
        case leaf
        /// A certificate above the server's own.
        case issuer
    }

    /// The object whose digest is pinned.
    public let kind: Kind
    /// The part of the chain in which the pin must match.
    public let scope: Scope
    /// The 32 bytes of the SHA-256 digest.
    public let digest: [UInt8]

    /// Creates a pin from a digest.
    ///
    /// - Throws: `invalidPolicy` if the digest does not have 32 bytes.
    public init(kind: Kind, digest: [UInt8], scope: Scope = .any) throws(RequestFailure) {
        guard digest.count == 32 else {
            throw RequestFailure(
                .invalidPolicy, "A pin has \(digest.count) bytes instead of 32.",
                remedy: "Provide the SHA-256 digest; “essentials pins” prints it.")
        }
        self.kind = kind
        self.scope = scope
        self.digest = digest
    }

    /// Parses a public-key pin: `sha256/` followed by Base64.
    ///
    /// - Throws: `invalidPolicy` if the text has another format.
    public static func publicKey(_ text: String, scope: Scope = .any) throws(RequestFailure) -> Pin {
        try read(text, kind: .publicKey, scope: scope)
    }

    /// Parses a certificate pin: `sha256/` followed by Base64.
    ///
    /// - Throws: `invalidPolicy` if the text has another format.
    public static func certificate(_ text: String, scope: Scope = .any) throws(RequestFailure) -> Pin {
        try read(text, kind: .certificate, scope: scope)
    }

    /// The pin as `sha256/` followed by Base64.
    public var text: String { "sha256/" + Base64.encoded(digest) }
    /// The pin with its kind and scope, for logs.
    public var description: String {
        let place = scope == .any ? "" : scope == .leaf ? " of the leaf" : " of an issuer"
        return (kind == .publicKey ? "public key " : "certificate ") + text + place
    }

    private static func read(_ text: String, kind: Kind, scope: Scope) throws(RequestFailure) -> Pin {
        guard text.hasPrefix("sha256/") else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is not a pin.", remedy: "Write it as sha256/ and 44 characters of Base64.")
        }
        guard let digest = Base64.decoded(text.dropFirst("sha256/".count)) else {
            throw RequestFailure(
                .invalidPolicy, "“\(text)” is not Base64 after sha256/.",
                remedy: "Use the standard alphabet with its padding: 44 characters for a SHA-256 digest.")
        }
        return try Pin(kind: kind, digest: digest, scope: scope)
    }
}

/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
enum Base64 {
    static func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    static func decoded(_ text: some StringProtocol) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
