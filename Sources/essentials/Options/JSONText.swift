import ArgumentParser
import EssentialsHTTP
import ServiceEssentials

/// JSON texts (RFC 8259) that are sent unchanged.
enum JSONText {
    /// A text as a JSON string with quotation marks.
    static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\0"..<" ": "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
            default: "\(scalar)"
            }
        }
        return "\"\(escaped.joined())\""
    }

    /// Returns the text if it is valid JSON, or `@` and the path of a file, which is checked when it is read.
    static func checked(_ text: String) throws -> String {
        guard text.utf8.first == UInt8(ascii: "@") || JSONParser.isValid(text) else {
            throw ValidationError("The text is not valid JSON. Check its quotes, commas and brackets.")
        }
        guard text != "@" else { throw ValidationError("The @ needs a file name, or - for standard input.") }
        return text
    }
}
