public import EssentialsHTTP

/// The parts of requests that logs do not show.
///
/// ```swift
/// configuration.redaction.hiddenFields.insert(apiKey)
/// configuration.redaction.query = .hidden(["token", "signature"])
/// ```
public struct Redaction: Sendable, Hashable {
    /// The parts of a URL's query that are hidden.
    public enum Query: Sendable, Hashable {
        /// The whole query. The log shows only that there is one.
        case hiddenWhole
        /// The values of items that have one of these names or whose name sounds secret, as for
        /// ``Redaction/hiddenFields``.
        ///
        /// Names are compared without regard to case and percent-encoding, and `token` also matches `token[]` and
        /// `token[x]`. List names that do not sound secret, such as `email`.
        case hidden(Set<String>)
    }

    /// The parts of a query that are hidden. The default is the whole query.
    public var query: Query = .hiddenWhole
    /// Additional fields whose values are hidden in the command line of a request. The default is empty.
    ///
    /// Fields whose names sound secret are always hidden: names with the word `auth`, `csrf`, `hmac`, `jwt`, `key`,
    /// `otp`, `pass`, `pin`, `pwd`, `sessid`, `sid`, `sig` or `xsrf`, names with a word that holds `authoriz`, `cookie`,
    /// `credential`, `passkey`, `passwd`, `password`, `secret`, `session`, `signature` or `token`, compounds such as
    /// `access_code`, `verification_code`, `code_verifier` and `client_assertion`, and a few similar ones. Words end at
    /// `-` and `_`, and case does not matter. `Idempotency-Key`, `Surrogate-Key` and `Sec-WebSocket-Key` are shown.
    /// `code`, `ticket` and `assertion` are hidden if they are the whole name, but not in `zip_code`.
    ///
    /// Fields whose names sound secret are also removed when a redirect leads to another origin, except `Code`, `Ticket`
    /// and `Assertion`; see `RedirectPolicy.sensitiveFields`.
    public var hiddenFields: Set<HTTPField.Name> = []

    /// Creates a redaction that hides queries and all fields whose names sound secret.
    public init() {}

    /// Hides the values of query items whose names sound secret, and shows the others.
    package static var named: Redaction {
        var redaction = Redaction()
        redaction.query = .hidden([])
        return redaction
    }

    func hides(_ name: HTTPField.Name) -> Bool {
        hiddenFields.contains(name) || KnownNames.isSecret(name.rawName)
    }

    /// The text of a URL for a log.
    func text(of url: RequestURL) -> String {
        guard let query = url.query, case .hidden = self.query else { return url.redacted }
        return "\(url.origin)\(shown(text: "\(url.path)?\(query)"))"
    }

    /// A text that is or contains URLs or forms, with `…` in place of user names, passwords and secret values.
    package func shown(text: String) -> String {
        let names = { (name: String) in
            guard !SecretName.isSecret(encoded: name, .shown) else { return true }
            let decoded = (try? QueryItems(parsing: name))?.items.first?.name ?? ""
            return SecretName.isSecret(member: decoded) || isListed(decoded)
        }
        return SecretText(hides: names) { hasHiddenMembers($0) }.shown(text)
    }

    /// Whether a name was listed among those whose values are hidden in queries.
    func isListed(_ name: String) -> Bool {
        guard case .hidden(let names) = query, !names.isEmpty else { return false }
        let name = name.lowercased()
        let base = String(name.prefix { $0 != "[" })
        return names.contains { [name, base].contains($0.lowercased()) }
    }
}
