/// The requirements of a trust policy for some hosts, in addition to a verified chain and host name.
///
/// ```swift
/// let rules = [
///     try HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)])),
///     try HostRule.unpinned("static.example.com"),
/// ]
/// ```
public struct HostRule: Sendable, Hashable {
    /// The hosts to which the rule applies.
    public let pattern: HostPattern
    /// The pins of these hosts; `nil` if their chain is verified but not pinned.
    public let pins: PinSet?

    /// Creates a rule with pins.
    ///
    /// - Throws: `invalidPolicy` if the pattern is not valid.
    public init(_ pattern: String, pins: PinSet) throws(RequestFailure) {
        try self.init(pattern: HostPattern(pattern), pins: pins)
    }

    /// Creates a rule for hosts that would otherwise be pinned by a wider rule or refused as unlisted.
    ///
    /// - Throws: `invalidPolicy` if the pattern is not valid.
    public static func unpinned(_ pattern: String) throws(RequestFailure) -> HostRule {
        try HostRule(pattern: HostPattern(pattern), pins: nil)
    }

    package init(pattern: HostPattern, pins: PinSet?) {
        self.pattern = pattern
        self.pins = pins
    }
}
