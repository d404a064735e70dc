/// Parses IP address literals without calling the system.
enum IPAddress {
    /// Whether the text consists of four decimal numbers from 0 to 255 without leading zeros (RFC 3986, section 3.2.2).
    static func isDottedQuad(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { octet($0) != nil }
    }

    /// The canonical text of an IPv6 address (RFC 5952), or `nil` if the text is not one. Zones are not supported.
    static func normalisedIPv6(_ text: String) -> String? {
        guard let groups = groups(of: text) else { return nil }
        let run = longestZeroRun(in: groups)
        guard run.count >= 2 else { return join(groups[...]) }
        return join(groups[..<run.lowerBound]) + "::" + join(groups[run.upperBound...])
    }

    /// The four or sixteen bytes of an address literal, or `nil` for any other text.
    static func bytes(of text: String) -> [UInt8]? {
        if isDottedQuad(text) { return text.split(separator: ".").compactMap { UInt8($0) } }
        return groups(of: text)?.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }

    /// The IPv4 address in the sixteen bytes of an IPv4-mapped address (RFC 4291, section 2.5.5.2), or `nil` for other
    /// addresses.
    static func embeddedIPv4(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 16, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xff, bytes[11] == 0xff else {
            return nil
        }
        return Array(bytes[12...])
    }

    /// Whether sixteen bytes are an IPv4-compatible address (RFC 4291, section 2.5.5.1).
    ///
    /// It contains a global address, so `::1` and other addresses that contain one of 0.0.0.0/8 are not IPv4-compatible.
    static func isCompatible(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && bytes[..<12].allSatisfy { $0 == 0 } && bytes[12] != 0
    }

    /// Whether sixteen bytes are an address that a translator assigns to an IPv4 host: 64:ff9b::/96 (RFC 6052, section
    /// 2.1), 64:ff9b:1::/48 (RFC 8215) and ::ffff:0:0:0/96 (RFC 2765, section 2.1).
    static func isTranslated(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        let wellKnown: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
        let local: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 1]
        let stateless: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0]
        return [wellKnown, local, stateless].contains { bytes.starts(with: $0) }
    }

    /// Formats four bytes as a dotted quad.
    static func dottedQuad(_ bytes: [UInt8]) -> String { bytes.map { String($0) }.joined(separator: ".") }

    private static func octet(_ text: some StringProtocol) -> UInt16? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        guard text.utf8.count == 1 || text.first != "0", let value = UInt16(text), value <= 255 else { return nil }
        return value
    }

    private static func groups(of text: String) -> [UInt16]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let first = halves.first, let head = list(first) else { return nil }
        guard halves.count == 2 else { return head.count == 8 ? head : nil }
        guard !first.contains(".") else { return nil }
        guard let tail = list(halves[1]), head.count + tail.count <= 7 else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    /// The groups between colons. The last may be a dotted quad, which stands for two groups.
    private static func list(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                let octets = part.split(separator: ".", omittingEmptySubsequences: false).compactMap { octet($0) }
                guard octets.count == 4, isDottedQuad(part) else { return nil }
                groups += [octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]]
            } else {
                guard (1...4).contains(part.utf8.count), part.first != "+", part.first != "-",
                    let value = UInt16(part, radix: 16)
                else { return nil }
                groups.append(value)
            }
        }
        return groups.count <= 8 ? groups : nil
    }

    private static func longestZeroRun(in groups: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        return best
    }

    private static func join(_ groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
