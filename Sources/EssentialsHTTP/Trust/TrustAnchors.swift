/// Which authorities a verified chain may lead to.
public struct TrustAnchors: Sendable, Hashable {
    /// Whether the system's own anchors count.
    public let includesSystem: Bool
    /// Anchors named explicitly.
    public let explicit: [PEM]

    /// The system's anchors.
    public static let system = TrustAnchors(includesSystem: true, explicit: [])

    /// These certificates and no others. A self-signed server is its own anchor.
    ///
    /// - Throws: `invalidPolicy` when the list is empty or one holds no certificate.
    public static func only(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: false, explicit: try checked(anchors))
    }

    /// The system's anchors and these.
    ///
    /// - Throws: `invalidPolicy` when the list is empty or one holds no certificate.
    public static func systemAnd(_ anchors: [PEM]) throws(RequestFailure) -> TrustAnchors {
        TrustAnchors(includesSystem: true, explicit: try checked(anchors))
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
