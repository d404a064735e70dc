#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads and writes the lines of cookie files in the Netscape format of curl and wget: domain, whether hosts below
/// the domain count, path, whether the cookie is secure, expiry in seconds, name and value, separated by tabs. Expiry 0
/// means a session cookie. Before the domain, `#HttpOnly_` marks a cookie that scripts must not see.
enum NetscapeCookies {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The first lines of a new file. Some programs read only files that begin with the first one.
    static let header = Array("# Netscape HTTP Cookie File\n# Lines that begin with # are comments.\n\n".utf8)
    private static let mark = Array("#HttpOnly_".utf8)
    private static let tab = UInt8(ascii: "\t")

    /// Passes the lines of a text without their ends.
    static func forEachLine(of text: UnsafeBufferPointer<UInt8>, _ body: (Bytes) -> Void) {
        var rest = text[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            body(line)
            rest = rest[line.endIndex...].dropFirst()
        }
    }

    /// The cookie of a line; `nil` for comments and lines that cannot be read.
    ///
    /// A line with a cookie for a public suffix counts as unreadable.
    static func cookie(from line: Bytes, now: Date, suffixes: PublicSuffixRules) -> Cookie? {
        var rest = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        let isHTTPOnly = rest.starts(with: mark)
        if isHTTPOnly { rest = rest.dropFirst(mark.count) }
        guard let first = rest.first, first != UInt8(ascii: "#"), !rest.contains(where: SetCookieLine.isControl)
        else { return nil }
        let domain = next(&rest)
        guard let includesBelow = flag(next(&rest)) else { return nil }
        let path = next(&rest)
        guard let isSecure = flag(next(&rest)), let expires = seconds(next(&rest)) else { return nil }
        let name = next(&rest)
        guard let host = hostName(domain), (1...SetCookieLine.maximumAttribute).contains(path.count),
            path.first == UInt8(ascii: "/"), !name.isEmpty, !name.contains(UInt8(ascii: "=")),
            name.count + rest.count <= SetCookieLine.maximumPair
        else { return nil }
        guard !includesBelow || !suffixes.isPublicSuffix(host) else { return nil }
        var pair: [UInt8] = []
        pair.reserveCapacity(name.count + 1 + rest.count)
        pair.append(contentsOf: name)
        pair.append(UInt8(ascii: "="))
        pair.append(contentsOf: rest)
        return Cookie(
            pair: pair, nameCount: name.count, domain: host, isHostOnly: !includesBelow,
            path: String(decoding: path, as: UTF8.self),
            expires: expires == 0 ? nil : Date(timeIntervalSince1970: expires), isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, created: now)
    }

    /// Appends the line of a cookie. Returns false for a cookie with a tab, which the format cannot express.
    static func append(_ cookie: Cookie, to text: inout [UInt8]) -> Bool {
        guard !cookie.pair.contains(tab), !cookie.path.utf8.contains(tab) else { return false }
        if cookie.isHTTPOnly { text += mark }
        if !cookie.isHostOnly { text.append(UInt8(ascii: ".")) }
        text += cookie.domain.utf8
        text += cookie.isHostOnly ? "\tFALSE\t".utf8 : "\tTRUE\t".utf8
        text += cookie.path.utf8
        text += cookie.isSecure ? "\tTRUE\t".utf8 : "\tFALSE\t".utf8
        // The lifetime is limited, so the number is small. Seconds are rounded up, because 0 has another meaning.
        let expires = cookie.expires?.timeIntervalSince1970.rounded(.up) ?? 0
        text += "\(Int(exactly: min(max(expires, cookie.expires == nil ? 0 : 1), 1e15)) ?? 0)\t".utf8
        text += cookie.pair[..<cookie.nameCount]
        text.append(tab)
        text += cookie.pair.dropFirst(cookie.nameCount + 1)
        text.append(UInt8(ascii: "\n"))
        return true
    }

    /// Removes and returns the part before the next tab.
    private static func next(_ rest: inout Bytes) -> Bytes {
        let end = rest.firstIndex(of: tab) ?? rest.endIndex
        defer { rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...] }
        return rest[..<end]
    }

    private static func flag(_ text: Bytes) -> Bool? {
        if text.elementsEqual("TRUE".utf8, by: { $0 & 0xdf == $1 }) { return true }
        return text.elementsEqual("FALSE".utf8, by: { $0 & 0xdf == $1 }) ? false : nil
    }

    /// The seconds. A fraction, which some programs write, is ignored. An empty text means 0, and a negative number
    /// means a time in the past.
    private static func seconds(_ text: Bytes) -> Double? {
        if text.first == UInt8(ascii: "-") { return seconds(text.dropFirst()).map { _ in 1 } }
        let digits = text.prefix { $0 != UInt8(ascii: ".") }
        guard digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return digits.reduce(0) { min($0 * 10 + Double($1 &- 0x30), 1e15) }
    }

    /// The domain in lower case, without one leading dot.
    private static func hostName(_ domain: Bytes) -> String? {
        let name = domain.first == UInt8(ascii: ".") ? domain.dropFirst() : domain
        guard (1...253).contains(name.count), name.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        return SetCookieLine.lowercased(name)
    }
}
