import EssentialsHTTP

/// Hides secrets in a text that is or contains URLs, forms or attributes, such as a request target, a query or a field `Location`.
struct SecretText {
    /// The bytes before which the name of a parameter ends, and after which another one can begin.
    private static let boundaries = Set("?&#;<>\" \t\r\n,({='".utf8)
    /// The bytes after which even an empty name is one, as in `?=secret`.
    private static let openings = Set("?&#;".utf8)
    private static let blanks = Set(" \t".utf8)
    /// The bytes that end a hidden value. A semicolon does not, because it can be a part of the value.
    private static let ends = Set("&#<>\" \t\r\n".utf8)
    private static let authorityEnds = Set("/?#<>\" \t\r\n".utf8)
    private static let quotes = Set("\"'".utf8)
    private static let equals = UInt8(ascii: "="), backslash = UInt8(ascii: "\\"), percent = UInt8(ascii: "%")
    /// How often a value is decoded that may be a URL in a URL.
    private static let maximumDepth = 3

    /// Whether the value of a name, percent-encoded as it is written, is hidden.
    let hides: (String) -> Bool
    /// Whether a text is JSON with members that are hidden.
    let hasHiddenMembers: (String) -> Bool

    /// The text with `…` in place of user names, passwords, and the values of parameters with secret names.
    func shown(_ text: String) -> String {
        // Most texts have nothing of the kind.
        guard text.utf8.contains(Self.equals) || text.contains("//") else { return text }
        return shown(text, depth: 0)
    }

    private func shown(_ text: String, depth: Int) -> String {
        let bytes = Self.withoutCredentials(Array(text.utf8))
        var shown: [UInt8] = []
        var (copied, index, nameStart, wordStart, wordEnd) = (0, 0, 0, 0, 0)
        // The value of the first name in a piece is searched, with what else the piece has.
        var isSearched = false
        while index < bytes.count {
            let byte = bytes[index]
            guard Self.boundaries.contains(byte) else {
                index += 1
                continue
            }
            if byte == Self.equals {
                var name = bytes[nameStart..<index]
                var value = index + 1
                if name.isEmpty, nameStart > 0, !Self.openings.contains(bytes[nameStart - 1]) {
                    // `password = secret`, or nothing of the kind.
                    name = Self.blanks.contains(bytes[nameStart - 1]) ? bytes[wordStart..<wordEnd] : []
                    while value < bytes.count, Self.blanks.contains(bytes[value]) { value += 1 }
                    if name.isEmpty { value = bytes.count }
                }
                // A word is the name of one value only.
                wordEnd = wordStart
                let isHidden = value < bytes.count && hides(String(decoding: name, as: UTF8.self))
                if isHidden || !isSearched && isSecret(value: Self.piece(of: bytes, from: value), depth) {
                    let end = Self.end(ofValueAt: value, in: bytes)
                    shown += bytes[copied..<value] + "…".utf8
                    (copied, index, nameStart, isSearched) = (end, end, end, false)
                    continue
                }
                isSearched = true
            } else {
                if nameStart < index { (wordStart, wordEnd) = (nameStart, index) }
                if Self.ends.contains(byte) { isSearched = false }
            }
            index += 1
            nameStart = index
        }
        return String(decoding: shown + bytes[copied...], as: UTF8.self)
    }

    /// The bytes up to the end of a value.
    private static func piece(of bytes: [UInt8], from start: Int) -> ArraySlice<UInt8> {
        bytes[min(start, bytes.count)...].prefix { !ends.contains($0) }
    }

    /// The end of a hidden value: the quotation mark that ends it, or a byte that cannot be in it.
    private static func end(ofValueAt start: Int, in bytes: [UInt8]) -> Int {
        let isEscaped = bytes[start] == backslash
        let mark = isEscaped ? start + 1 : start
        guard mark < bytes.count, quotes.contains(bytes[mark]) else { return piece(of: bytes, from: start).endIndex }
        let rest = bytes[(mark + 1)...]
        guard let end = rest.firstIndex(where: { $0 == bytes[mark] || $0 == 0x0a }) else { return bytes.count }
        return bytes[end] == 0x0a ? end : end + 1
    }

    /// Whether an encoded value is a URL, JSON or another text with a secret in it.
    private func isSecret(value: ArraySlice<UInt8>, _ depth: Int) -> Bool {
        guard value.contains(Self.percent) else { return false }
        let decoded = String(decoding: PercentCoding.decoded(value, plusIsSpace: true), as: UTF8.self)
        guard !decoded.utf8.elementsEqual(value) else { return false }
        // A text that is encoded more often is hardly a link of the program.
        return depth >= Self.maximumDepth || hasHiddenMembers(decoded) || shown(decoded, depth: depth + 1) != decoded
            || isSecret(value: Array(decoded.utf8)[...], depth + 1)
    }

    /// Replaces everything before the last `@` of each authority (RFC 3986, section 3.2).
    private static func withoutCredentials(_ bytes: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard bytes.contains(UInt8(ascii: "@")) else { return bytes }
        var shown: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.firstIndex(of: slash) {
            shown += rest[...first]
            rest = rest[(first + 1)...]
            guard rest.first == slash else { continue }
            // The second slash can begin the next pair.
            let authority = rest.dropFirst().prefix { !authorityEnds.contains($0) }
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
            shown += "/…".utf8
            rest = rest[at...]
        }
        return shown + rest
    }
}
