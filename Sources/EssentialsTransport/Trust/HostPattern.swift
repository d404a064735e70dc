/// Which hosts a trust rule is for.
///
/// ```swift
/// try HostPattern("api.example.com")     // that host
/// try HostPattern("*.example.com")       // one label more: a.example.com, neither example.com nor b.a.example.com
/// try HostPattern("**.example.com")      // example.com and everything below it
/// ```
///
/// Patterns are normalised as hosts are (`HostName`): case and a trailing dot make no difference, and names outside ASCII
/// are written in their `xn--` form. Addresses match exactly only.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// How much a pattern covers.
    public enum Breadth: Sendable, Hashable, Comparable {
        /// The host itself.
        case exact
        /// Every name with exactly one label before the host: `*.`.
        case oneLabel
        /// The host and every name below it: `**.`.
        case anyDepth
    }

    /// How much it covers.
    public let breadth: Breadth
    /// The host without its asterisks.
    public let host: HostName

    /// Reads a pattern.
    ///
    /// - Throws: `invalidPolicy` for a text that is no pattern: an empty one, an asterisk anywhere but in front, one that
    ///   stands for a part of a label or for more than one, or in front of an address.
    public init(_ text: some StringProtocol) throws(RequestFailure) {
        var rest = Substring(text)
        if rest.hasPrefix("**.") {
            breadth = .anyDepth
            rest.removeFirst(3)
        } else if rest.hasPrefix("*.") {
            breadth = .oneLabel
            rest.removeFirst(2)
        } else {
            breadth = .exact
        }
        guard !rest.contains("*") else {
            throw Self.invalid(
                text, "has an asterisk where none may stand.",
                "Write “*.example.com” for one label more, or “**.example.com” for any number of them.")
        }
        do {
            host = try HostName(rest)
        } catch {
            throw Self.invalid(text, "holds no host: \(error.message)", error.remedy)
        }
        guard breadth == .exact || !host.isAddress else {
            throw Self.invalid(text, "has an asterisk in front of an address.", "Name each address.")
        }
    }

    /// Whether the pattern is for a host.
    public func matches(_ other: HostName) -> Bool {
        if breadth != .oneLabel, other == host { return true }
        guard breadth != .exact, !other.isAddress, other.text.hasSuffix("." + host.text) else { return false }
        return breadth == .anyDepth || !other.text.dropLast(host.text.utf8.count + 1).contains(".")
    }

    /// Of two patterns for the same host, whether this one counts.
    func isMoreSpecific(than other: HostPattern) -> Bool {
        let (length, otherLength) = (host.text.utf8.count, other.host.text.utf8.count)
        return length != otherLength ? length > otherLength : breadth < other.breadth
    }

    /// The pattern as it is compared.
    public var description: String {
        switch breadth {
        case .exact: host.description
        case .oneLabel: "*." + host.text
        case .anyDepth: "**." + host.text
        }
    }

    private static func invalid(
        _ text: some StringProtocol, _ what: String, _ remedy: String?
    ) -> RequestFailure {
        RequestFailure(
            .invalidPolicy, "The pattern “\(RequestFailure.shown(text))” \(what)",
            remedy: remedy ?? "Write a host name, with “*.” or “**.” in front if it is for more than one.")
    }
}
