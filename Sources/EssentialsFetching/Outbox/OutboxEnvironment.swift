import EssentialsRequests

/// The environment for which an entry of an outbox was added.
///
/// An environment is the same if it has the same name, regardless of its URL, or if it has no name and the same base
/// URL. With other header fields, such as those of another tenant, it is another environment. Only a keyed hash of the
/// fields is known.
struct OutboxEnvironment: Sendable, Hashable {
    /// The name; empty without one.
    let name: String
    /// The base URL without its query. It counts only without a name.
    let baseURL: String
    /// The hash of the header fields; empty without header fields.
    let fields: String

    init(name: String, baseURL: String, fields: String) {
        (self.name, self.baseURL, self.fields) = (name, baseURL, fields)
    }

    /// - Parameter key: The key of the outbox; `nil` leaves the header fields out.
    init(_ identity: EnvironmentIdentity, _ key: FingerprintKey?) {
        let url = identity.snapshot.baseURL
        let path = Substring(url.path.utf8.prefix { $0 != UInt8(ascii: "?") })
        self.init(
            name: identity.snapshot.name, baseURL: "\(url.origin)\(path)",
            fields: key.map { identity.fingerprint($0) } ?? "")
    }

    /// How another environment differs; `nil` if it is the same one.
    func difference(from other: OutboxEnvironment) -> OutboxEntry.EnvironmentDifference? {
        guard name == other.name, !name.isEmpty || baseURL == other.baseURL else { return .environment }
        return fields == other.fields ? nil : .headerFields
    }

    static func == (one: Self, other: Self) -> Bool { one.difference(from: other) == nil }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        if name.isEmpty { hasher.combine(baseURL) }
        hasher.combine(fields)
    }
}
