/// The certificate authorities to which a verified chain may lead.
///
/// ```swift
/// let company = try TrustAnchors.only([PEM(contentsOfFile: "company-ca.pem")])
/// let installed = TrustAnchors.system.ignoringEnvironment  // ignores SSL_CERT_FILE
/// ```
public struct TrustAnchors: Sendable, Hashable {
    /// Whether the system's own anchors are trusted.
    public let includesSystem: Bool
    /// Whether `SSL_CERT_FILE` and `SSL_CERT_DIR` are ignored. True if the system's anchors are not trusted, because
    /// the variables then have no effect.
    public let ignoresEnvironment: Bool
    /// The anchors that were given explicitly.
    public let explicit: [PEM]

    /// The system's anchors.
    ///
    /// They come from `SSL_CERT_FILE` and `SSL_CERT_DIR` if one of these is set, otherwise from the installed ones.
    public static let system = TrustAnchors(includesSystem: true, ignoresEnvironment: false, explicit: [])

    /// Only these certificates. A self-signed server is its own anchor.
    ///
    /// - Throws: `invalidPolicy` if the list is empty or an element contains no certificate.
    public static func only(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: false, ignoresEnvironment: true, explicit: try checked(anchors))
    }

    /// The system's anchors and these certificates.
    ///
    /// - Throws: `invalidPolicy` if the list is empty or an element contains no certificate.
    public static func systemAnd(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: true, ignoresEnvironment: false, explicit: try checked(anchors))
    }

    /// The same anchors, but environment variables cannot replace the system's anchors.
    ///
    /// Use this in programs whose environment is not controlled by their owner: programs started by a web server, by a
    /// job that accepts variables, or with privileges.
    public var ignoringEnvironment: TrustAnchors {
        TrustAnchors(includesSystem: includesSystem, ignoresEnvironment: true, explicit: explicit)
    }

    private static func checked(_ anchors: [PEM]) throws(RequestFailure) -> [PEM] {
        guard !anchors.isEmpty else {
            throw RequestFailure(
                .invalidPolicy, "The list of anchors is empty, so no server could be trusted.",
                remedy: "Provide at least one certificate, or use the system's anchors.")
        }
        for anchor in anchors where !anchor.labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) {
            throw RequestFailure(
                .invalidPolicy, "An anchor contains no certificate, only \(anchor.labels.joined(separator: ", ")).",
                remedy: "Use the authority's certificate, not its key.")
        }
        return anchors
    }
}
