import EssentialsHTTP

/// Hides secrets in a text that is or contains URLs or forms, such as a request target, a query or a field `Location`.
struct SecretText {
    /// The characters after which the name of a parameter can begin: in queries, fragments and paths.
    private static let starts = "?&#;<>\" \t\r\n".utf8
    /// The characters that end a hidden value. A semicolon does not, because it can be a part of the value.
    private static let ends = "&#<>\" \t\r\n".utf8
    private static let authorityEnds = "/?#<>\" \t\r\n".utf8
    /// How often a value is decoded that may be a URL in a URL.
    private static let maximumDepth = 3

    /// Whether the value of a name, percent-encoded as it is written, is hidden.
    let hides: (String) -> Bool

    /// The text with `…` in place of user names, passwords, and the values of parameters with secret names.
    func shown(_ text: String) -> String {
        // Most texts have nothing of the kind.
        guard text.utf8.contains(UInt8(ascii: "=")) || text.contains("//") else { return text }
        return shown(text, depth: 0)
    }

    private func shown(_ text: String, depth: Int) -> String {
        var shown: [UInt8] = []
        var rest = Self.withoutCredentials(Array(text.utf8))[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !Self.starts.contains($0) }
            if let equals = piece.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(decoding: piece[..<equals], as: UTF8.self)
                if hides(name) || isSecret(value: piece[(equals + 1)...], depth) {
                    shown += piece[...equals] + "…".utf8
                    rest = rest[equals...].drop { !Self.ends.contains($0) }
                } else {
                    shown += piece
                    rest = rest.dropFirst(piece.count)
                }
            } else {
                shown += piece
                rest = rest.dropFirst(piece.count)
            }
            if let separator = rest.popFirst() { shown.append(separator) }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Whether an encoded value is a URL, or another text, with a secret in it.
    private func isSecret(value: ArraySlice<UInt8>, _ depth: Int) -> Bool {
        guard value.contains(UInt8(ascii: "%")) else { return false }
        let decoded = String(decoding: PercentCoding.decoded(value, plusIsSpace: true), as: UTF8.self)
        guard !decoded.utf8.elementsEqual(value) else { return false }
        // A text that is encoded more often is hardly a link of the program.
        return depth >= Self.maximumDepth || shown(decoded, depth: depth + 1) != decoded
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
