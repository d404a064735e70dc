import EssentialsHTTP
import EssentialsTools
import EssentialsTransport
package import FoundationEssentials

extension Redaction {
    /// A body with `…` in place of the secrets that have names: members of JSON, items of forms and parameters of URLs.
    ///
    /// They are found in all texts, such as in the lines of an event stream, in JSON that is cut off, and in JSON that is a string
    /// of other JSON. The parts of a multipart body have names that can be anywhere, so it is hidden whole, and so is a text
    /// that cannot be read because it is compressed or in another charset than UTF-8.
    ///
    /// - Parameters:
    ///   - type: The value of the `Content-Type` field; `nil` without one.
    ///   - coding: The value of the `Content-Encoding` field; `nil` without one.
    package func shown(body: Data, type: String?, coding: String? = nil) -> Data {
        guard !body.isEmpty else { return body }
        let hidden = Data("…".utf8)
        let media = type.flatMap { MediaType(parsing: $0) }
        if type?.lowercased().hasPrefix("multipart") == true { return hidden }
        guard let text = Self.text(of: body) else {
            let isText = media.map(Self.isText) ?? true
            return isText || coding != nil || Self.isCompressed(body) ? hidden : body
        }
        let members = HiddenMembers(of: Data(text.utf8), isJSON: Self.isJSON(media, body)) { hides(member: $0) }
        let shown = shown(text: String(decoding: members.shown, as: UTF8.self))
        return shown == text ? body : Data(shown.utf8)
    }

    /// Whether a text is JSON with members whose values are hidden.
    func hasHiddenMembers(_ text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "\"")) else { return false }
        let bytes = Data(text.utf8)
        return HiddenMembers(of: bytes, isJSON: Self.isJSON(nil, bytes)) { hides(member: $0) }.shown != bytes
    }

    /// The text of a body; `nil` if it is none. A character at the end may be cut.
    private static func text(of body: Data) -> String? {
        guard !body.contains(0) else { return nil }
        return String(validating: body.dropLast(CutUTF8.incompleteCount(body)), as: UTF8.self)
    }

    /// Whether a type is one of text. Of such a body nothing is shown if it cannot be read.
    private static func isText(_ type: MediaType) -> Bool {
        guard type.type == "application" || type.suffix != nil else { return type.type == "text" }
        let texts = ["json", "xml", "x-www-form-urlencoded", "javascript", "ndjson", "x-ndjson", "jwt", "jose"]
        return texts.contains(type.subtype) || ["json", "xml"].contains(type.suffix)
    }

    private static func isJSON(_ type: MediaType?, _ body: Data) -> Bool {
        if type?.subtype == "json" || type?.suffix == "json" { return true }
        guard type == nil || type?.type == "text", type?.subtype != "event-stream" else { return false }
        return body.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }.map { "{[".utf8.contains($0) } ?? false
    }

    /// Whether bytes begin as those of gzip, zlib or zstd do.
    private static func isCompressed(_ body: Data) -> Bool {
        let beginnings: [[UInt8]] = [
            [0x1f, 0x8b], [0x28, 0xb5, 0x2f, 0xfd], [0x78, 0x01], [0x78, 0x9c], [0x78, 0xda],
        ]
        return beginnings.contains { body.starts(with: $0) }
    }

    /// Whether the value of a JSON member is hidden.
    private func hides(member name: String) -> Bool {
        SecretName.isSecret(member: name) || isListed(name) || HTTPField.Name(name).map(hiddenFields.contains) == true
    }
}

/// Finds the members of JSON whose values are hidden, in one pass.
private struct HiddenMembers {
    private static let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\")
    /// How deep JSON is looked for in strings of JSON. A string that is nested deeper is hidden.
    private static let maximumDepth = 4

    /// The text with `"…"` in place of the hidden values.
    private(set) var shown = Data()
    private let bytes: Data
    /// Whether the whole text is JSON. In another text, a quotation mark may be alone, and no string has a line break.
    private let isJSON: Bool
    private var position: Data.Index
    private var copied: Data.Index
    /// How many more bytes of strings are looked at. Marks that are alone let bytes be looked at again.
    private var budget: Int

    init(of bytes: Data, isJSON: Bool, depth: Int = 0, _ hides: (String) -> Bool) {
        (self.bytes, self.isJSON) = (bytes, isJSON)
        (position, copied) = (bytes.startIndex, bytes.startIndex)
        budget = 8 * bytes.count + 1_024
        while let opening = bytes[position...].firstIndex(of: Self.quote) {
            position = opening
            let content = string()
            let end = position
            skipBlanks()
            guard position < bytes.endIndex, bytes[position] == UInt8(ascii: ":") else {
                // A quotation mark that is alone may have hidden the beginning of the next string.
                position = isJSON ? end : opening + 1
                budget -= content.count
                // What would take too long is hidden.
                if budget < 0 {
                    hide(from: opening)
                    copied = bytes.endIndex
                    break
                }
                if hasHiddenMembers(content, depth, hides) {
                    hide(from: opening)
                    position = end
                    copied = end
                }
                continue
            }
            position += 1
            skipBlanks()
            guard Self.text(of: bytes[content]).map(hides) ?? true else { continue }
            hide(from: position)
            skipValue()
            copied = position
        }
        shown = copied == bytes.startIndex ? bytes : shown + bytes[copied...]
    }

    private mutating func hide(from start: Data.Index) { shown += bytes[copied..<start] + Data("\"…\"".utf8) }

    /// Whether a string is JSON with members that are hidden.
    private func hasHiddenMembers(_ content: Range<Data.Index>, _ depth: Int, _ hides: (String) -> Bool) -> Bool {
        guard bytes[content].contains(Self.backslash) else { return false }
        // A string that cannot be decoded, or is cut off, may be such JSON.
        guard let text = Self.text(of: bytes[content]) else { return bytes[content].contains(UInt8(ascii: ":")) }
        let inner = Data(text.utf8)
        guard inner.contains(Self.quote), inner.contains(UInt8(ascii: ":")) else { return false }
        return depth >= Self.maximumDepth
            || HiddenMembers(of: inner, isJSON: true, depth: depth + 1, hides).shown != inner
    }

    /// Passes over the string at the position, and returns what is in its quotation marks. It may have no end.
    private mutating func string() -> Range<Data.Index> {
        position += 1
        let start = position
        while position < bytes.endIndex, bytes[position] != Self.quote, isJSON || bytes[position] != 0x0a {
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

    /// The string with its escapes decoded; `nil` if it is not JSON.
    private static func text(of string: Data) -> String? {
        guard string.contains(backslash) else { return String(decoding: string, as: UTF8.self) }
        return try? JSONDecoder().decode(String.self, from: Data([quote] + string + [quote]))
    }
}
