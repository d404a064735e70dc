import EssentialsTools
import ServiceEssentials

/// Shows texts of a server in a form that cannot control the terminal.
enum VisibleText {
    /// A header field's value or another text of one line. Each invisible character is shown by its number, such as
    /// `\u{1B}`.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isInvisible) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if scalar.isInvisible { shown += escaped(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }

    static func escaped(_ scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    /// The same as an escape sequence of a JSON string.
    static func escapedInJSON(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}

extension Unicode.Scalar {
    /// Whether the character can move the cursor, start an escape sequence or change the reading order. Joiners, which
    /// many languages need, cannot.
    var controlsTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

/// Splits chunks of UTF-8 into texts. A character that is cut by the end of a chunk is returned with the next one.
/// Invalid bytes become U+FFFD.
struct UTF8Chunks {
    private var rest: [UInt8] = []

    /// The characters that are complete after this chunk.
    mutating func text(_ chunk: UnsafeRawBufferPointer) -> String {
        let bytes = rest + chunk
        let cut = CutUTF8.incompleteCount(bytes)
        rest = Array(bytes.suffix(cut))
        return String(decoding: bytes.dropLast(cut), as: UTF8.self)
    }

    /// What is left at the end.
    mutating func end() -> String {
        defer { rest = [] }
        return String(decoding: rest, as: UTF8.self)
    }
}

/// Escapes a text for a terminal, piece by piece. Line breaks and tabs stay, and CR LF becomes a line break.
struct TerminalText {
    private var hasReturn = false

    mutating func escaped(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            if hasReturn, scalar != "\n" { shown += VisibleText.escaped("\r") }
            hasReturn = scalar == "\r"
            if hasReturn { continue }
            if scalar.controlsTerminal, scalar != "\n", scalar != "\t" {
                shown += VisibleText.escaped(scalar)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// A carriage return at the end.
    mutating func end() -> String {
        defer { hasReturn = false }
        return hasReturn ? VisibleText.escaped("\r") : ""
    }
}
