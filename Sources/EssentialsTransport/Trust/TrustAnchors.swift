/// Which authorities a verified chain may lead to.
///
/// ```swift
/// let company = try TrustAnchors.only([PEM(contentsOfFile: "company-ca.pem")])
/// let installed = TrustAnchors.system.ignoringEnvironment  // SSL_CERT_FILE changes nothing
/// ```
public struct TrustAnchors: Sendable, Hashable {
    /// Whether the system's own anchors count.
    public let includesSystem: Bool
    /// Whether the system's own anchors are those that are installed, whatever `SSL_CERT_FILE` and `SSL_CERT_DIR` say.
    /// True where the system's anchors do not count, because then the environment says nothing either.
    public let ignoresEnvironment: Bool
    /// Anchors named explicitly.
    public let explicit: [PEM]

    /// The system's anchors.
    ///
    /// They are those of `SSL_CERT_FILE` and `SSL_CERT_DIR` where one of these is set, else those that are installed.
    public static let system = TrustAnchors(includesSystem: true, ignoresEnvironment: false, explicit: [])

    /// These certificates and no others. A self-signed server is its own anchor.
    ///
    /// - Throws: `invalidPolicy` when the list is empty or one holds no certificate.
    public static func only(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: false, ignoresEnvironment: true, explicit: try checked(anchors))
    }

    /// The system's anchors and these.
    ///
    /// - Throws: `invalidPolicy` when the list is empty or one holds no certificate.
    public static func systemAnd(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: true, ignoresEnvironment: false, explicit: try checked(anchors))
    }

    /// The same anchors, but that nobody who sets a variable can put others in the place of the system's.
    ///
    /// For programs whose environment is written by somebody else than their owner: started by a web server, by a job
    /// that takes variables, or with privileges.
    public var ignoringEnvironment: TrustAnchors {
        TrustAnchors(includesSystem: includesSystem, ignoresEnvironment: true, explicit: explicit)
    }

    private static func checked(_ anchors: [PEM]) throws(RequestFailure) -> [PEM] {
        guard !anchors.isEmpty else {
            throw RequestFailure(
                .invalidPolicy, "The list of anchors is empty, so no server could be trusted.",
                remedy: "Name at least one certificate, or use the system's anchors.")
        }
        for anchor in anchors where !anchor.labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) {
            throw RequestFailure(
                .invalidPolicy, "An anchor holds no certificate but \(anchor.labels.joined(separator: ", ")).",
                remedy: "Give the authority's certificate, not its key.")
        }
        return anchors
    }
}
