import ArgumentParser

/// Checks that a text is JSON (RFC 8259) before it is sent unchanged.
///
/// The decoder of FoundationEssentials is not strict enough: it accepts commas before a closing bracket.
struct JSONText {
    private static let maximumDepth = 512
    private var rest: Substring.UTF8View
    private var depth = 0

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

    /// Whether the text is valid JSON.
    static func isValid(_ text: String) -> Bool {
        var reader = JSONText(rest: text[...].utf8)
        return reader.value() && reader.rest.isEmpty
    }

    /// Returns the text if it is valid JSON, or `@` and the path of a file, which is checked when it is read.
    static func checked(_ text: String) throws -> String {
        guard text.utf8.first == UInt8(ascii: "@") || isValid(text) else {
            throw ValidationError("The text is not valid JSON. Check its quotes, commas and brackets.")
        }
        guard text != "@" else { throw ValidationError("The @ needs a file name, or - for standard input.") }
        return text
    }

    private init(rest: Substring.UTF8View) { self.rest = rest }

    /// Reads a value and the white space around it.
    private mutating func value() -> Bool {
        skipSpace()
        defer { skipSpace() }
        switch rest.first {
        case UInt8(ascii: "{"): return list(closedBy: UInt8(ascii: "}")) { $0.member() }
        case UInt8(ascii: "["): return list(closedBy: UInt8(ascii: "]")) { $0.value() }
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return take("true")
        case UInt8(ascii: "f"): return take("false")
        case UInt8(ascii: "n"): return take("null")
        default: return number()
        }
    }

    private mutating func list(closedBy end: UInt8, element: (inout JSONText) -> Bool) -> Bool {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { return false }
        rest.removeFirst()
        skipSpace()
        if take(end) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(end)
    }

    private mutating func member() -> Bool {
        skipSpace()
        guard rest.first == UInt8(ascii: "\""), string() else { return false }
        skipSpace()
        return take(UInt8(ascii: ":")) && value()
    }

    private mutating func string() -> Bool {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"): guard escape() else { return false }
            default: break
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = rest.popFirst() else { return false }
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        return digits.count == 4 && digits.allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        guard take(UInt8(ascii: "0")) || digits() else { return false }
        if take(UInt8(ascii: ".")), !digits() { return false }
        guard take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) else { return true }
        _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
        return digits()
    }

    private mutating func digits() -> Bool {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(_ word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
    }
}
