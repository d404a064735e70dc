/// The hosts to which a trust rule applies.
///
/// ```swift
/// try HostPattern("api.example.com")     // that host
/// try HostPattern("*.example.com")       // exactly one more label: a.example.com, but not b.a.example.com
/// try HostPattern("**.example.com")      // example.com and all names below it
/// ```
///
/// Patterns are normalized like hosts (`HostName`): case and a trailing dot make no difference, and names outside ASCII
/// are written in their `xn--` form. Addresses only match exactly.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// The breadth of a pattern.
    public enum Breadth: Sendable, Hashable, Comparable {
        /// The host itself.
        case exact
        /// All names with exactly one label before the host, written as `*.`.
        case oneLabel
        /// The host and all names below it, written as `**.`.
        case anyDepth
    }

    /// The breadth of the pattern.
    public let breadth: Breadth
    /// The host without asterisks.
    public let host: HostName

    /// Parses a pattern.
    ///
    /// - Throws: `invalidPolicy` if the text is empty, if an asterisk is not at the start or stands for a part of a
    ///   label, or if there is one before an address.
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
                text, "has an asterisk in a wrong position.",
                "Write “*.example.com” for one more label, or “**.example.com” for any number of labels.")
        }
        do {
            host = try HostName(rest)
        } catch {
            throw Self.invalid(text, "contains no host: \(error.message)", error.remedy)
        }
        guard breadth == .exact || !host.isAddress else {
            throw Self.invalid(text, "has an asterisk in front of an address.", "List each address.")
        }
    }

    /// Whether the pattern matches a host.
    public func matches(_ other: HostName) -> Bool {
        if breadth != .oneLabel, other == host { return true }
        guard breadth != .exact, !other.isAddress, other.text.hasSuffix("." + host.text) else { return false }
        return breadth == .anyDepth || !other.text.dropLast(host.text.utf8.count + 1).contains(".")
    }

    /// Whether this pattern takes precedence over another one that matches the same host.
    func isMoreSpecific(than other: HostPattern) -> Bool {
        let (length, otherLength) = (host.text.utf8.count, other.host.text.utf8.count)
        return length != otherLength ? length > otherLength : breadth < other.breadth
    }

    /// The pattern in normalized form.
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
            remedy: remedy ?? "Write a host name, preceded by “*.” or “**.” if it matches several hosts.")
    }
}
