/// A host in normalized form, as it is compared in origins and trust rules and passed to the transport. Two spellings
/// of a host are equal exactly if they refer to the same name or address.
///
/// ```swift
/// try HostName("API.Example.COM.").text      // "api.example.com"
/// try HostName("[::1]").isAddress            // true
/// try HostName("[::ffff:192.0.2.1]").text    // "192.0.2.1"
/// ```
///
/// Names are in lower case, without one trailing dot, and consist of A-labels (RFC 5890). A name outside ASCII is
/// refused and not converted.
///
/// Every address has one spelling, so a rule for an address applies however it is written:
///
/// - An IPv4 address consists of four decimal numbers. Other forms ("0x7f.1", "0177.0.0.1", "127.1", "2130706433") are
///   refused, because some resolvers treat them as addresses and others as names.
/// - An IPv6 address has the form of RFC 5952.
/// - An IPv4-mapped address (`::ffff:192.0.2.1`) becomes the IPv4 address (RFC 4291, section 2.5.5.2), because the
///   system connects it to that IPv4 host.
/// - An IPv4-compatible address (`::192.0.2.1`) is refused. It is deprecated (RFC 4291, section 2.5.5.1), and the system
///   does not connect it to the IPv4 host that it seems to name.
/// - Addresses of translators (64:ff9b::/96 of RFC 6052, 64:ff9b:1::/48 of RFC 8215, ::ffff:0:0:0/96 of RFC
///   2765) are refused. They lead to an IPv4 host, for which rules use the IPv4 address, but an IPv6-only
///   network cannot reach that.
/// - A zone (`fe80::1%eth0`, RFC 4007, section 11) is refused, because it is meaningful on one machine only and has
///   several spellings for one interface.
/// - `0.0.0.0` and `::` are refused. They are not destinations (RFC 4291, section 2.5.2), but Linux
///   connects them to this machine.
///
/// A name stays a name: a rule for an address does not apply to the names that resolve to it.
public struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// The name or address; IPv6 addresses have no brackets.
    public let text: String
    /// Whether this is an IP address literal.
    public let isAddress: Bool

    /// A name that no host can have (RFC 6761, 6.4).
    static let nowhere = HostName(normalized: "nowhere.invalid")

    private init(normalized name: String) {
        text = name
        isAddress = false
    }

    /// Normalizes a host. IPv6 addresses may be written in brackets.
    ///
    /// - Throws: `invalidRequest` if the host is not valid.
    public init(_ host: some StringProtocol) throws(RequestFailure) {
        if host.contains(":") || host.hasPrefix("[") {
            let inner = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
            text = try Self.addressIPv6(inner, shown: host)
            isAddress = true
            return
        }
        let name = try Self.normalisedName(host)
        if let last = name.split(separator: ".").last, Self.readsAsNumber(last) {
            guard IPAddress.isDottedQuad(name) else {
                throw Self.invalid(
                    "“\(RequestFailure.shown(host))” is neither a name nor an IPv4 address.",
                    "Write the address as four decimal numbers.")
            }
            text = try Self.destination(name)
            isAddress = true
            return
        }
        text = name
        isAddress = false
    }

    /// The host for URLs and logs; IPv6 addresses have brackets.
    public var description: String { text.utf8.contains(UInt8(ascii: ":")) ? "[\(text)]" : text }

    private static func addressIPv6(
        _ text: String, shown host: some StringProtocol
    ) throws(RequestFailure) -> String {
        guard let address = IPAddress.normalisedIPv6(text), let bytes = IPAddress.bytes(of: address) else {
            throw invalid(
                "“\(RequestFailure.shown(host))” is not an IPv6 address.", "Write it as [2001:db8::1], without a zone.")
        }
        guard !IPAddress.isTranslated(bytes) else {
            throw invalid(
                "“\(address)” is a translator's address for an IPv4 host.",
                "Write the IPv4 address, or a name that leads to the host.")
        }
        guard !IPAddress.isCompatible(bytes) else {
            throw invalid(
                "“\(address)” is an IPv4-compatible IPv6 address, which leads to no host (RFC 4291, 2.5.5.1).",
                "Write the IPv4 address \(IPAddress.dottedQuad(Array(bytes[12...]))).")
        }
        return try destination(IPAddress.embeddedIPv4(bytes).map(IPAddress.dottedQuad) ?? address)
    }

    /// Returns a normalized address, unless it is the unspecified one.
    private static func destination(_ address: String) throws(RequestFailure) -> String {
        guard address != "0.0.0.0", address != "::" else {
            throw invalid(
                "“\(address)” is the unspecified address, which is not a destination.",
                "Write 127.0.0.1 or [::1] for this machine.")
        }
        return address
    }

    private static func normalisedName(_ host: some StringProtocol) throws(RequestFailure) -> String {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw invalid(
                "“\(RequestFailure.shown(host))” has characters outside ASCII.", "Write the xn-- form of the name.")
        }
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty else { throw invalid("The host is empty.", "Write the URL as https://host/path.") }
        guard name.utf8.count <= 253 else { throw invalid("The host is longer than 253 bytes.", "Shorten it.") }
        for label in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard (1...63).contains(label.utf8.count) else {
                throw invalid(
                    "“\(RequestFailure.shown(host))” has an empty label or one of more than 63 bytes.",
                    "Check its dots.")
            }
        }
        guard name.utf8.allSatisfy(isNameByte) else {
            throw invalid(
                "“\(RequestFailure.shown(host))” has a character that host names cannot have.",
                "Use letters, digits, “-” and “.”.")
        }
        return name
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._".utf8.contains(byte)
    }

    private static func readsAsNumber(_ label: Substring) -> Bool {
        if label.hasPrefix("0x") { return label.dropFirst(2).allSatisfy(\.isHexDigit) }
        return label.allSatisfy(\.isNumber)
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}
