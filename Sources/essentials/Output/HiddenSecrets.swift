import EssentialsHTTP
import ServiceEssentials

/// Hides secrets in a text that is or contains URLs, such as a request target or a field `Location` or `Link`.
enum HiddenSecrets {
    /// The characters after which the name of a parameter can begin: in queries, fragments and paths.
    private static let starts = "?&#;<>\" \t".utf8
    /// The characters that end a hidden value. A semicolon does not, because it can be a part of the value.
    private static let ends = "&#<>\" \t".utf8
    private static let authorityEnds = "/?#<>\" \t".utf8

    /// The text with `…` in place of user names, passwords, and the values of parameters whose names look secret.
    static func text(_ text: String) -> String {
        var shown: [UInt8] = []
        var rest = withoutCredentials(Array(text.utf8))[...]
        while !rest.isEmpty {
            let piece = rest.prefix { !starts.contains($0) }
            if let equals = piece.firstIndex(of: UInt8(ascii: "=")),
                SecretName.isSecret(encoded: String(decoding: piece[..<equals], as: UTF8.self), .shown)
            {
                shown += piece[...equals] + "…".utf8
                rest = rest[equals...].drop { !ends.contains($0) }
            } else {
                shown += piece
                rest = rest.dropFirst(piece.count)
            }
            if let separator = rest.popFirst() { shown.append(separator) }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Replaces everything before the last `@` of each authority (RFC 3986, section 3.2).
    private static func withoutCredentials(_ bytes: [UInt8]) -> [UInt8] {
        var shown: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            shown.append(byte)
            guard shown.suffix(2).elementsEqual("//".utf8) else { continue }
            let authority = rest.prefix { !authorityEnds.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                shown += "…".utf8
                rest = rest[at...]
            }
        }
        return shown
    }
}
