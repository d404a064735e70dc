/// The hosts that are reached without a proxy, in the format of the `no_proxy` variable.
///
/// ```swift
/// let bypass = ProxyBypass("localhost, .example.com, 10.0.0.0/8, [::1], build:8080")
/// ```
///
/// Entries are separated by commas or blanks. `*` matches all hosts. A name matches itself and all names below it, with
/// or without a leading dot or `*.`. An address matches itself, and `address/length` matches a network (RFC 4632).
/// `:port` restricts an entry to that port. Any other entry matches nothing. Addresses are compared in normalized form
/// (``HostName``): `::ffff:10.0.0.1` equals 10.0.0.1, and `::ffff:10.0.0.0/104` equals 10.0.0.0/8.
public struct ProxyBypass: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        case all
        case name(String, port: UInt16?)
        case network([UInt8], length: Int, port: UInt16?)
    }

    private let entries: [Entry]

    /// Parses a list.
    public init(_ list: String) {
        // The search compares bytes, because a comma followed by a combining mark is a different `Character`.
        let parts = list.utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || (0x09...0x0d).contains($0) }
        entries = parts.compactMap { Self.entry(Substring($0)) }
    }

    /// A list that matches no host.
    public static let nothing = ProxyBypass("")

    /// Whether an origin is reached directly.
    public func matches(_ origin: Origin) -> Bool {
        let bytes = origin.host.isAddress ? IPAddress.bytes(of: origin.host.text) : nil
        return entries.contains { entry in
            switch entry {
            case .all: return true
            case .name(let name, let port):
                guard port == nil || port == origin.port, bytes == nil else { return false }
                return origin.host.text == name || origin.host.text.hasSuffix("." + name)
            case .network(let network, let length, let port):
                guard port == nil || port == origin.port else { return false }
                return bytes.map { Self.share($0, network, bits: length) } ?? false
            }
        }
    }

    private static func entry(_ text: Substring) -> Entry? {
        if text == "*" { return .all }
        let (rest, port) = split(text)
        if let slash = rest.lastIndex(of: "/") {
            guard let bytes = address(rest[..<slash]), let length = number(rest[rest.index(after: slash)...]),
                (0...bytes.count * 8).contains(Int(length))
            else { return nil }
            return network(bytes, length: Int(length), port: port)
        }
        if let bytes = address(rest) { return network(bytes, length: bytes.count * 8, port: port) }
        var name = rest
        if name.hasPrefix("*.") { name = name.dropFirst(2) } else if name.hasPrefix(".") { name = name.dropFirst() }
        guard let host = try? HostName(name), !host.isAddress else { return nil }
        return .name(host.text, port: port)
    }

    /// Separates the port from an entry. An IPv6 address has a port only if it is in brackets.
    private static func split(_ text: Substring) -> (Substring, UInt16?) {
        guard let colon = text.lastIndex(of: ":"), let port = number(text[text.index(after: colon)...]) else {
            return (text, nil)
        }
        let host = text[..<colon]
        guard !host.contains(":") || host.hasPrefix("[") else { return (text, nil) }
        return (host, port)
    }

    /// Parses digits without a sign.
    private static func number(_ text: Substring) -> UInt16? {
        text.utf8.allSatisfy(\.isASCIIDigit) ? UInt16(text) : nil
    }

    private static func address(_ text: Substring) -> [UInt8]? {
        let inner = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text
        return IPAddress.bytes(of: String(inner))
    }

    /// Normalizes an IPv4 network that is written as an IPv6 network, as is done for hosts.
    private static func network(_ bytes: [UInt8], length: Int, port: UInt16?) -> Entry {
        guard length >= 96, let address = IPAddress.embeddedIPv4(bytes) else {
            return .network(bytes, length: length, port: port)
        }
        return .network(address, length: length - 96, port: port)
    }

    private static func share(_ first: [UInt8], _ second: [UInt8], bits: Int) -> Bool {
        guard first.count == second.count else { return false }
        let whole = bits / 8
        guard first[..<whole] == second[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || first[whole] >> (8 - rest) == second[whole] >> (8 - rest)
    }
}
