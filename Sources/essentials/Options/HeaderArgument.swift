import ArgumentParser

/// A header field as one argument: `Name: value`, `Name:` to send no such field, or `Name;` for a field without a value.
struct HeaderArgument: Sendable, Equatable {
    let name: String
    /// `nil` if the field is not sent, even if the tool would add it.
    let value: String?

    /// Blanks around the value are removed. Name and value are validated when the request is created.
    init(_ text: String) throws {
        let bytes = text.utf8
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex {
            name = String(text[..<colon])
            let trimmed = Self.trimmed(text[bytes.index(after: colon)...])
            value = trimmed.isEmpty ? nil : trimmed
        } else if bytes.last == UInt8(ascii: ";"), bytes.count > 1 {
            name = String(Substring(bytes.dropLast()))
            value = ""
        } else {
            throw ValidationError("Write a header field as 'Name: value'.")
        }
        guard value == nil else { return }
        switch name.lowercased() {
        case "host", "content-length", "transfer-encoding":
            throw ValidationError("The field \(name) cannot be left out, because a server needs it.")
        case "accept":
            throw ValidationError(
                "The field Accept cannot be left out. Without another value it is */*, which means the same.")
        default: return
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        var scalars = text.unicodeScalars.drop(while: isBlank)
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }
}
