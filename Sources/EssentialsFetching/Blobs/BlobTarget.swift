import EssentialsHTTP
import EssentialsRequests

/// The requested blob: that of an address, or that of a definition with its header fields and settings.
struct BlobTarget: Sendable {
    /// The part that is joined with the base URL of the place.
    private enum Source: Sendable {
        case address(String)
        case definition(@Sendable (RequestURL) throws(RequestFailure) -> RequestURL)
    }

    private let source: Source
    /// The header fields of a definition that distinguish its blob from others at its URL; empty without them.
    let fields: String
    /// The request of a definition, without its URL; `nil` for an address.
    let request: DataRequest?
    private let parts: FetchKeyRules.Parts?

    /// - Parameter address: A whole URL, or a path below the base URL.
    init(_ address: String) {
        source = .address(address)
        fields = ""
        request = nil
        parts = nil
    }

    /// - Throws: `invalidRequest` if the definition is invalid, if its method is not GET, or if it has a body, a range
    ///   or credentials of its own.
    init(_ definition: some TypedRequest) throws(RequestFailure) {
        let definition = definition.definition
        let built: DataRequest = try definition.build()
        guard built.method == .get, let parts = FetchKeyRules.parts(of: built, below: nil) else {
            throw RequestFailure(
                .invalidRequest, "The definition of \(definition.description) describes no blob.",
                remedy: "Use GET without a body, and let the data-request service add credentials.")
        }
        source = .definition { base throws(RequestFailure) in try definition.url(under: base) }
        fields = parts.fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted().joined(separator: "\n")
        request = built.forLoads
        self.parts = parts
    }

    /// The header fields that distinguish the blob, with hashes of values that can be secret.
    func variant(key: FingerprintKey) -> String { parts?.variant(key: key) ?? "" }

    /// The URL of the blob.
    ///
    /// - Throws: `invalidRequest` if there is none.
    func url(in place: BlobPlace) throws(RequestFailure) -> ResourceURL {
        let url: ResourceURL
        switch source {
        case .address(let address):
            url = Self.isWhole(address) ? place.base.url(whole: address) : place.base.url(path: address)
        case .definition(let make):
            // The slash at the end of the base's path belongs to the URL of every blob.
            let whole = try make(try RequestURL(place.base.prefix + place.base.suffix))
            url = place.base.url(whole: whole.description)
        }
        if let failure = url.failure { throw failure }
        return url
    }

    private static func isWhole(_ address: String) -> Bool {
        let start = address.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
}
