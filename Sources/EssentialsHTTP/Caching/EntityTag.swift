/// An entity tag ([RFC 9110, 8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
///
/// A tag without quotes, which some servers send, is one too. It counts as weak and is equal to the same text only.
///
/// ```swift
/// let tag = EntityTag("W/\"1\"")
/// let isSame = tag?.matchesWeakly(EntityTag("\"1\"")) == true     // true
/// ```
package struct EntityTag: Sendable, Hashable {
    /// The text as it was sent.
    package let text: String
    /// Whether the tag may stay the same when some bytes change.
    package let isWeak: Bool

    /// Parses the value of an `ETag` field; `nil` if it is no tag, or if its bytes are not text.
    package init?(_ text: String?) {
        guard let text, !text.isEmpty, !text.unicodeScalars.contains("\u{fffd}") else { return nil }
        var rest = text.utf8[...]
        let hasPrefix = rest.starts(with: Self.weakPrefix)
        if hasPrefix { rest = rest.dropFirst(2) }
        if rest.first == UInt8(ascii: "\"") {
            guard rest.count >= 2, rest.last == UInt8(ascii: "\""),
                rest.dropFirst().dropLast().allSatisfy(Self.isTagByte)
            else { return nil }
            (self.text, isWeak) = (text, hasPrefix)
        } else {
            guard text.utf8.allSatisfy({ Self.isTagByte($0) && $0 < 0x7f && $0 != UInt8(ascii: ",") }), text != "*"
            else { return nil }
            (self.text, isWeak) = (text, true)
        }
    }

    /// The strong comparison: both are strong and equal (RFC 9110, 8.8.3.2).
    package func matchesStrongly(_ other: EntityTag?) -> Bool {
        guard let other, !isWeak, !other.isWeak else { return false }
        return text.utf8.elementsEqual(other.text.utf8)
    }

    /// The weak comparison: both are equal, whether weak or not.
    package func matchesWeakly(_ other: EntityTag?) -> Bool {
        guard let other else { return false }
        return opaque.elementsEqual(other.opaque)
    }

    /// The tags of `If-Match` or `If-None-Match`, and whether the list is `*`. Members that are no tags are skipped, and so
    /// is the rest of a list in which a quotation mark is missing. Reading takes time linear in the length of the text.
    package static func list(_ text: String) -> (isAny: Bool, tags: [EntityTag]) {
        let bytes = Array(text.utf8)
        var (isAny, tags): (Bool, [EntityTag]) = (false, [])
        var index = 0
        while index < bytes.count {
            let start = index
            var isQuoted = false
            while index < bytes.count, isQuoted || bytes[index] != UInt8(ascii: ",") {
                if bytes[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
                index += 1
            }
            let member = FieldList.trimmed(bytes[start..<index])
            if member == [UInt8(ascii: "*")] { isAny = true }
            if let tag = EntityTag(String(decoding: member, as: UTF8.self)) { tags.append(tag) }
            index += 1
        }
        return (isAny, tags)
    }

    private static let weakPrefix = Array("W/".utf8)

    /// The text without the mark of a weak tag.
    private var opaque: Substring.UTF8View {
        isWeak && text.utf8.last == UInt8(ascii: "\"") ? text.utf8.dropFirst(2) : text.utf8[...]
    }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x7e).contains(byte) || byte >= 0x80
    }
}
