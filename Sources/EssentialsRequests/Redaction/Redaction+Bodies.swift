import EssentialsHTTP
import EssentialsTransport
package import FoundationEssentials

extension Redaction {
    /// A body with `…` in place of the secrets that have names: items of a form, and members of JSON.
    ///
    /// The names are those of query items. JSON is found in every other text too, such as in the lines of an event stream,
    /// and need not be complete. The parts of a multipart body have names that can be anywhere, so it is hidden whole.
    ///
    /// - Parameter type: The value of the `Content-Type` field; `nil` without one.
    package func shown(body: Data, type: String?) -> Data {
        guard !body.isEmpty else { return body }
        let type = type.flatMap { try? MediaType($0) }
        if type?.type == "multipart" { return Data("…".utf8) }
        if type?.essence == MediaType.form.essence {
            return Data(shown(items: String(decoding: body, as: UTF8.self)).utf8)
        }
        return HiddenMembers(of: body) { hides(member: $0) }.shown
    }

    /// Whether the value of a JSON member is hidden.
    private func hides(member name: String) -> Bool {
        SecretName.isSecret(name, .shown) || isListed(name) || HTTPField.Name(name).map(hiddenFields.contains) == true
    }
}

/// Finds the members of JSON whose values are hidden, in one pass.
private struct HiddenMembers {
    private static let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\")

    /// The text with `"…"` in place of the hidden values.
    private(set) var shown = Data()
    private let bytes: Data
    private var position: Data.Index

    init(of bytes: Data, _ hides: (String) -> Bool) {
        self.bytes = bytes
        position = bytes.startIndex
        var copied = position
        while let opening = bytes[position...].firstIndex(of: Self.quote) {
            position = opening
            let name = string()
            let end = position
            skipBlanks()
            guard position < bytes.endIndex, bytes[position] == UInt8(ascii: ":") else {
                position = end
                continue
            }
            position += 1
            skipBlanks()
            guard hides(Self.text(of: bytes[name])) else { continue }
            shown += bytes[copied..<position] + Data("\"…\"".utf8)
            skipValue()
            copied = position
        }
        shown = copied == bytes.startIndex ? bytes : shown + bytes[copied...]
    }

    /// Passes over the string at the position, and returns what is in its quotation marks. It may have no end. No string has
    /// a line break, so that a lonely mark in a text that is not JSON confuses one line only.
    private mutating func string() -> Range<Data.Index> {
        position += 1
        let start = position
        while position < bytes.endIndex, bytes[position] != Self.quote, bytes[position] != 0x0a {
            position = min(position + (bytes[position] == Self.backslash ? 2 : 1), bytes.endIndex)
        }
        defer { position = min(position + 1, bytes.endIndex) }
        return start..<position
    }

    private mutating func skipBlanks() {
        while position < bytes.endIndex, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    /// Passes over a value, with all that is in it.
    private mutating func skipValue() {
        var depth = 0
        while position < bytes.endIndex {
            switch bytes[position] {
            case Self.quote:
                _ = string()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                // The end of the object whose last member this is.
                if depth == 0 { return }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return
                }
            case UInt8(ascii: ","), 0x0a, 0x0d: if depth == 0 { return }
            default: break
            }
            position += 1
        }
    }

    /// The name with its escapes decoded. A name that is not JSON is taken as it is.
    private static func text(of name: Data) -> String {
        guard name.contains(backslash) else { return String(decoding: name, as: UTF8.self) }
        let quoted = [quote] + name + [quote]
        return (try? JSONDecoder().decode(String.self, from: Data(quoted))) ?? String(decoding: name, as: UTF8.self)
    }
}
