import ArgumentParser

/// A name and a value given in one argument: `name=value`.
struct NamedText: Sendable, Equatable {
    let name: String
    let value: String

    /// Parses `name=value`. The value may be empty and may contain further equals signs.
    static func queryItem(_ text: String) throws -> NamedText { try pair(text, "a query item") }

    /// Parses `name=value`. The value may be empty and may contain further equals signs.
    static func formField(_ text: String) throws -> NamedText { try pair(text, "a form field") }

    /// Parses the text of `--form`. A value that begins with `@` is refused, because `--part`, like other tools, would
    /// send a file.
    static func formText(_ text: String) throws -> NamedText {
        let field = try formField(text)
        guard field.value.utf8.first == UInt8(ascii: "@") else { return field }
        throw ValidationError(
            "--form sends no files. Send the file with --part \(OneLine.text(text)), or a text that begins with @ with "
                + "--data '\(OneLine.text(field.name))=%40…'.")
    }

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
