import ArgumentParser

/// A name and a value given in one argument: `name=value`.
struct NamedText: Sendable, Equatable {
    let name: String
    let value: String

    /// Parses `name=value`. The value may be empty and may contain further equals signs.
    static func queryItem(_ text: String) throws -> NamedText { try pair(text, "a query item") }

    /// Parses `name=value`. The value may be empty and may contain further equals signs.
    static func formField(_ text: String) throws -> NamedText { try pair(text, "a form field") }

    private static func pair(_ text: String, _ kind: String) throws -> NamedText {
        guard let (name, value) = split(text, at: UInt8(ascii: "=")), !name.isEmpty else {
            throw ValidationError("Write \(kind) as name=value.")
        }
        return NamedText(name: name, value: value)
    }

    /// Splits at the first separator. It compares bytes, because a `Character` could include a
    /// combining character after it.
    private static func split(_ text: String, at separator: UInt8) -> (String, String)? {
        let bytes = text.utf8
        guard let index = bytes.firstIndex(of: separator) else { return nil }
        return (String(text[..<index]), String(text[bytes.index(after: index)...]))
    }
}
