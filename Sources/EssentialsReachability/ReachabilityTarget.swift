/// The host or route that a tracker observes.
///
/// ```swift
/// try ReachabilityTarget("api.example.com")
/// try ReachabilityTarget("2001:db8::1")
/// ReachabilityTarget.defaultRoute
/// ```
public struct ReachabilityTarget: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case name(String)
        case addresses([NetworkAddress])
    }

    /// The maximum number of addresses of a host. Further addresses are ignored.
    public static let maximumAddresses = 32

    let kind: Kind
    /// The text that the target was created from.
    public let description: String

    /// Creates a target for a host: a name, or an IPv4 or IPv6 address. An IPv6 address can have brackets and a zone.
    ///
    /// - Throws: ``ReachabilityError/Reason/invalidTarget`` if the text is neither, or if the zone is not an interface.
    public init(_ host: String) throws(ReachabilityError) {
        description = host
        if let address = NetworkAddress(host) {
            kind = .addresses([address])
            return
        }
        guard Self.isName(host) else {
            throw ReachabilityError(
                .invalidTarget, "“\(Self.shown(host))” is neither a host name nor an address.",
                remedy: "Write the host alone, without scheme, port and path; encode non-ASCII names as “xn--…”.")
        }
        kind = .name(host)
    }

    private init(addresses: [NetworkAddress], description: String) {
        kind = .addresses(addresses)
        self.description = description
    }

    /// The route to the Internet: to a public IPv4 address and a public IPv6 address. The better of the two is used.
    ///
    /// Both addresses are only looked up in this machine's tables. No packet is sent to them.
    public static let defaultRoute = ReachabilityTarget(
        addresses: [[8, 8, 8, 8], [0x20, 0x01, 0x48, 0x60, 0x48, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x88]]
            .compactMap { NetworkAddress(bytes: $0) },
        description: "default route")

    /// Letters, digits, hyphens and underscores in labels that are separated by dots, within the limits of DNS (RFC
    /// 1035, 2.3.4).
    private static func isName(_ text: String) -> Bool {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        guard (1...253).contains(name.utf8.count) else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }

    /// The beginning of the text on one line, without user information and a query, which may contain credentials.
    private static func shown(_ text: String) -> String {
        let host = text.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let visible = host.prefix { $0 != "?" && $0 != "#" }.prefix(80)
        return String(visible.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
