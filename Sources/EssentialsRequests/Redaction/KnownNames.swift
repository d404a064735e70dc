import EssentialsHTTP
import EssentialsTools

/// Whether the names of header fields sound secret, for those that were asked for before. Messages have the same few names again
/// and again, and the answer takes much longer to find than to look up.
enum KnownNames {
    /// What is kept: peers can send any number of names. When there are too many, all are forgotten.
    private static let maximumNames = 512, maximumLength = 64
    private static let names = Mutex<[String: Bool]>([:])

    /// Whether the value of a field with this name must not be shown.
    static func isSecret(_ name: String) -> Bool {
        if let known = names.withLock({ $0[name] }) { return known }
        let isSecret = SecretName.isSecret(member: name)
        guard name.utf8.count <= maximumLength else { return isSecret }
        names.withLock { names in
            if names.count >= maximumNames { names.removeAll(keepingCapacity: true) }
            names[name] = isSecret
        }
        return isSecret
    }
}
