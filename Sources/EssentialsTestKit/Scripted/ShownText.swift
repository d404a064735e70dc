import EssentialsHTTP
import FoundationEssentials

/// Formats parts of requests for a test's output: short, in one line, without credentials.
enum ShownText {
    /// A text in quotation marks, shortened, with control characters made visible.
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

    /// The start of a body: as text if it is text, otherwise as bytes.
    static func body(_ data: Data, count: Int) -> String {
        if count == 0 { return "none" }
        // 804 bytes hold at least 201 characters. The cut may split the last one, so up to three bytes are dropped.
        let beginning = data.prefix(804)
        for cut in 0...3 where cut < beginning.count {
            if let text = String(validating: beginning.dropLast(cut), as: UTF8.self) {
                return "\(count) bytes, \(quoted(text, limit: 200))"
            }
        }
        let bytes = data.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        return "\(count) bytes, \(bytes.joined(separator: " "))" + (count > 16 ? " …" : "")
    }

    /// A field; its value is hidden if the field holds a secret.
    static func field(_ field: HTTPField) -> String {
        let isSecret = SecretName.isSecret(field.name.canonicalName, .shown)
        return "\(field.name.rawName): \(isSecret ? "… (\(field.value.utf8.count) bytes)" : quoted(field.value))"
    }

    /// A field's value in a difference; hidden if the field holds a secret.
    static func value(_ value: String, of name: HTTPField.Name) -> String {
        SecretName.isSecret(name.canonicalName, .shown) ? "…" : quoted(value)
    }
}
