/// A host in the one form that every part of the library compares: origins, trust rules, and the URL given to the
/// transport. Two spellings of a host are equal exactly when they reach the same name.
///
/// ```swift
/// try HostName("API.Example.COM.").text      // "api.example.com"
/// try HostName("[::1]").isAddress            // true
/// ```
///
/// Lower case, without one trailing dot, A-labels only (RFC 5890): a name outside ASCII is refused rather than guessed
/// at. A name that some resolvers read as an IPv4 address ("0x7f.1", "2130706433") is refused for the same reason.
public struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// The name or address; an IPv6 address without brackets.
    public let text: String
    /// Whether this is an IP address literal.
    public let isAddress: Bool

    /// Normalises a host. IPv6 addresses may stand in brackets.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the host.
    public init(_ host: some StringProtocol) throws(RequestFailure) {
        if host.contains(":") || host.hasPrefix("[") {
            let inner = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
            guard let address = IPAddress.normalisedIPv6(inner) else {
                throw Self.invalid(
                    "“\(RequestFailure.shown(host))” is no IPv6 address.", "Write it as [2001:db8::1], without a zone.")
            }
            text = address
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
            text = name
            isAddress = true
            return
        }
        text = name
        isAddress = false
    }

    /// The text that logs show.
    public var description: String { text.contains(":") ? "[\(text)]" : text }

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
                "“\(RequestFailure.shown(host))” has a character that no host name has.",
                "Use letters, digits, “-” and “.”.")
        }
        return name
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func readsAsNumber(_ label: Substring) -> Bool {
        if label.hasPrefix("0x") { return label.dropFirst(2).allSatisfy(\.isHexDigit) }
        return label.allSatisfy(\.isNumber)
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}
