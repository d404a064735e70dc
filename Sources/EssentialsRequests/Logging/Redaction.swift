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
        /// The items, with the values hidden of those with one of these names, and of those that ``Redaction/hiddenFields``
        /// calls secret anyway. Names are compared without regard to case and percent-encoding; `token` stands for
        /// `token[]` and `token[x]` too.
        case hidden(Set<String>)
    }

    /// What is shown of a query. Nothing.
    public var query: Query = .hiddenWhole
    /// The fields whose values are hidden in the command line of a request. Those that carry credentials are so anyway,
    /// and any whose name holds `key`, `token`, `secret`, `auth`, `cookie`, `session`, `passw`, `credential` or
    /// `signature`.
    public var hiddenFields: Set<HTTPField.Name> = []

    /// Nothing secret is shown.
    public init() {}

    private static let secretWords = [
        "key", "token", "secret", "auth", "cookie", "session", "passw", "credential", "signature",
    ]

    func hides(_ name: HTTPField.Name) -> Bool {
        hiddenFields.contains(name) || Self.isSecret(name.canonicalName)
    }

    private static func isSecret(_ name: String) -> Bool { secretWords.contains { name.contains($0) } }

    /// A URL for a log.
    func text(of url: RequestURL) -> String {
        guard let query = url.query, case .hidden(let names) = self.query else { return url.redacted }
        let hidden = Set(names.map { $0.lowercased() })
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item -> String in
            let written = item.prefix { $0 != "=" }
            guard written.endIndex != item.endIndex else { return String(item) }
            // A name that cannot be read is not known to be harmless.
            guard let read = try? QueryItems(parsing: written), let name = read.items.first?.name.lowercased() else {
                return "\(written)=…"
            }
            let isHidden =
                Self.isSecret(name) || hidden.contains(name) || hidden.contains(String(name.prefix { $0 != "[" }))
            return isHidden ? "\(written)=…" : String(item)
        }
        return "\(url.origin)\(url.path)?\(items.joined(separator: "&"))"
    }
}
