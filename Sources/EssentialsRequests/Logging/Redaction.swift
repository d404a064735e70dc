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
        /// All items, without the values of items that have one of these names or whose name sounds secret, as for
        /// ``Redaction/hiddenFields``. Names are compared without regard to case and percent-encoding, and `token`
        /// stands for `token[]` and `token[x]` too. List names that are secret only by their purpose, such as OAuth's
        /// `code`.
        case hidden(Set<String>)
    }

    /// What is shown of a query. Nothing.
    public var query: Query = .hiddenWhole
    /// The fields whose values are hidden in the command line of a request.
    ///
    /// Fields whose names sound secret are always hidden: names with the word `auth`, `csrf`, `hmac`, `jwt`, `key`,
    /// `otp`, `pass`, `pin`, `pwd`, `sid`, `sig` or `xsrf`, names with a word that holds `authoriz`, `cookie`,
    /// `credential`, `passwd`, `password`, `secret`, `session`, `signature` or `token`, and a few similar ones. Words
    /// end at `-` and `_`, and case does not matter. `Idempotency-Key`, `Surrogate-Key` and `Sec-WebSocket-Key` are
    /// shown.
    /// The same fields stay behind when a redirect leads to another origin; see `RedirectPolicy.sensitiveFields`.
    public var hiddenFields: Set<HTTPField.Name> = []

    /// Nothing secret is shown.
    public init() {}

    func hides(_ name: HTTPField.Name) -> Bool {
        hiddenFields.contains(name) || SecretName.isSecret(name.canonicalName)
    }

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
                SecretName.isSecret(name) || hidden.contains(name) || hidden.contains(String(name.prefix { $0 != "[" }))
            return isHidden ? "\(written)=…" : String(item)
        }
        return "\(url.origin)\(url.path)?\(items.joined(separator: "&"))"
    }
}
