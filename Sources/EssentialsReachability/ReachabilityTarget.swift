/// What a tracker looks for a way to.
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

    /// Of a host with more addresses, the first 32 are looked up.
    public static let maximumAddresses = 32

    let kind: Kind
    /// The text it was made from.
    public let description: String

    /// A host: a name, or an IPv4 or IPv6 address, which may stand in brackets and have a zone.
    ///
    /// - Throws: ``ReachabilityError/Reason/invalidTarget`` for a text that is neither, and for a zone that is no
    ///   interface's.
    public init(_ host: String) throws(ReachabilityError) {
        description = host
        if let address = NetworkAddress(host) {
            kind = .addresses([address])
            return
        }
        guard Self.isName(host) else {
            throw ReachabilityError(
                .invalidTarget, "“\(Self.shown(host))” is neither a host name nor an address.",
                remedy: "Write the host alone, without scheme, port and path; names outside of ASCII as “xn--…”.")
        }
        kind = .name(host)
    }

    private init(addresses: [NetworkAddress], description: String) {
        kind = .addresses(addresses)
        self.description = description
    }

    /// The way to the Internet at large: to a public address of IPv4 and to one of IPv6, of which the better counts.
    ///
    /// Both are only looked up in this machine's tables. Nothing is ever sent to them.
    public static let defaultRoute = ReachabilityTarget(
        addresses: [[8, 8, 8, 8], [0x20, 0x01, 0x48, 0x60, 0x48, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x88]]
            .compactMap { NetworkAddress(bytes: $0) },
        description: "default route")

    /// Letters, digits, hyphens and underscores between single dots, up to the length of DNS (RFC 1035, 2.3.4).
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

    /// The text's beginning on one line, without what could be a credential: what is before an `@`, and a query.
    private static func shown(_ text: String) -> String {
        let host = text.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let visible = host.prefix { $0 != "?" && $0 != "#" }.prefix(80)
        return String(visible.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
