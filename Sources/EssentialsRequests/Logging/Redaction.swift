public import EssentialsHTTP

/// What logs do not show.
///
/// ```swift
/// configuration.redaction.hiddenFields.insert(apiKey)
/// configuration.redaction.query = .hidden(["token", "signature"])
/// ```
public struct Redaction: Sendable, Hashable {
    /// What is shown of a URL's query.
    public enum Query: Sendable, Hashable {
        /// Nothing but that there is one.
        case hiddenWhole
        /// The items, with the values of these hidden. Names are compared without regard to case, as they stand in the
        /// query, percent-encoded.
        case hidden(Set<String>)
    }

    /// What is shown of a query. Nothing.
    public var query: Query = .hiddenWhole
    /// The fields whose values are hidden in the command line of a request: those that carry credentials, and any whose
    /// name holds `key`, `token`, `secret`, `auth`, `cookie`, `session` or `password`, are so anyway.
    public var hiddenFields: Set<HTTPField.Name> = []

    /// Nothing secret is shown.
    public init() {}

    private static let secretWords = ["key", "token", "secret", "auth", "cookie", "session", "password", "signature"]

    func hides(_ name: HTTPField.Name) -> Bool {
        hiddenFields.contains(name) || Self.secretWords.contains { name.canonicalName.contains($0) }
    }

    /// A URL for a log.
    func text(of url: RequestURL) -> String {
        guard let query = url.query, case .hidden(let names) = self.query else { return url.redacted }
        let hidden = Set(names.map { $0.lowercased() })
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item -> String in
            let name = item.prefix { $0 != "=" }
            return hidden.contains(name.lowercased()) && name.endIndex != item.endIndex ? "\(name)=…" : String(item)
        }
        return "\(url.origin)\(url.path)?\(items.joined(separator: "&"))"
    }
}
