/// What a trust policy asks of some hosts beyond a verified chain and host name.
///
/// ```swift
/// let rules = [
///     try HostRule("**.example.com", pins: PinSet([.publicKey(current), .publicKey(backup)])),
///     try HostRule.unpinned("static.example.com"),
/// ]
/// ```
public struct HostRule: Sendable, Hashable {
    /// Which hosts it is for.
    public let pattern: HostPattern
    /// Their pins; nil for hosts whose chain is verified and not pinned.
    public let pins: PinSet?

    /// A rule with pins.
    ///
    /// - Throws: `invalidPolicy` for a text that is no pattern.
    public init(_ pattern: String, pins: PinSet) throws(RequestFailure) {
        try self.init(pattern: HostPattern(pattern), pins: pins)
    }

    /// A rule for hosts that a wider rule would pin, or that would be refused as unlisted.
    ///
    /// - Throws: `invalidPolicy` for a text that is no pattern.
    public static func unpinned(_ pattern: String) throws(RequestFailure) -> HostRule {
        try HostRule(pattern: HostPattern(pattern), pins: nil)
    }

    package init(pattern: HostPattern, pins: PinSet?) {
        self.pattern = pattern
        self.pins = pins
    }
}
