import EssentialsHTTP
import FoundationEssentials

/// Requests in the words of a test's output: short, in one line, without credentials.
enum ShownText {
    /// A text in quotation marks, cut where it is long, with control characters made visible.
    static func quoted(_ text: some StringProtocol, limit: Int = 120) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar {
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            default: shown.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? "\u{FFFD}" : scalar)
            }
        }
        return "“" + shown + (text.unicodeScalars.dropFirst(limit).isEmpty ? "" : "…") + "”"
    }

    /// The beginning of a body: text where it is text, else bytes.
    static func body(_ data: Data, count: Int) -> String {
        if count == 0 { return "none" }
        // Of 201 characters at least the beginning; a cut may go through one, which takes up to three bytes more.
        let beginning = data.prefix(804)
        for cut in 0...3 where cut < beginning.count {
            if let text = String(validating: beginning.dropLast(cut), as: UTF8.self) {
                return "\(count) bytes, \(quoted(text, limit: 200))"
            }
        }
        let bytes = data.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        return "\(count) bytes, \(bytes.joined(separator: " "))" + (count > 16 ? " …" : "")
    }

    /// A field, without its value if its name is that of a secret.
    static func field(_ field: HTTPField) -> String {
        let isSecret = SecretName.isSecret(field.name.canonicalName)
        return "\(field.name.rawName): \(isSecret ? "… (\(field.value.utf8.count) bytes)" : quoted(field.value))"
    }

    /// The value of a field in a difference.
    static func value(_ value: String, of name: HTTPField.Name) -> String {
        SecretName.isSecret(name.canonicalName) ? "…" : quoted(value)
    }
}
