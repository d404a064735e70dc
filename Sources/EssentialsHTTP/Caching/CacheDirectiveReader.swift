/// Reads the directives of one `Cache-Control` line, a list of names that may have a token or a quoted string as value.
struct CacheDirectiveReader {
    /// A directive with its name in lower case.
    struct Directive: Equatable {
        let name: String
        /// The value without quotes; `nil` if there is none, or if it is malformed.
        let value: [UInt8]?
        /// Whether nothing follows the name.
        let isBare: Bool

        /// The value as a number of seconds; `nil` if it is none.
        var seconds: Int64? { value.flatMap { CacheDirectives.seconds($0) } }
    }

    private var rest: ArraySlice<UInt8>
    /// Whether the closing quotation mark of a string was missing. No later string has one then: every later quotation
    /// mark was an escaped character of that string, and what follows it was read to the end without finding one.
    private var lacksClosingQuote = false

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next directive; `nil` at the end. One without a name has an empty one.
    mutating func next() -> Directive? {
        rest.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard !rest.isEmpty else { return nil }
        let name = prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\"") }
        rest.skip(while: \.isBlank)
        var value: [UInt8]?
        let isBare = rest.first.map { $0 == UInt8(ascii: ",") } ?? true
        if rest.take("=") {
            rest.skip(while: \.isBlank)
            value = rest.take("\"") ? quoted() : Array(prefix { _ in true })
            rest.skip(while: \.isBlank)
        } else if rest.take("\"") {
            // A string without a name means nothing, and neither do the commas in it.
            _ = quoted()
        }
        // Anything else before the next comma makes the value malformed.
        if let next = rest.first, next != UInt8(ascii: ",") {
            value = nil
            rest.skip { $0 != UInt8(ascii: ",") }
        }
        return Directive(name: String(decoding: name, as: UTF8.self).lowercased(), value: value, isBare: isBare)
    }

    /// The rest of a quoted string. Returns `nil` if the closing quote is missing, and continues after the opening one, so
    /// that a missing quote hides no directive.
    private mutating func quoted() -> [UInt8]? {
        guard !lacksClosingQuote else { return nil }
        let start = rest
        var content: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return content }
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { byte = escaped }
            content.append(byte)
        }
        lacksClosingQuote = true
        rest = start
        return nil
    }

    /// The bytes up to a blank, a comma, or one that does not meet a condition.
    private mutating func prefix(_ condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        rest.take { !$0.isBlank && $0 != UInt8(ascii: ",") && condition($0) }
    }
}

/// Reads fields that are lists of tokens (RFC 9110, 5.6.1).
enum FieldList {
    /// The members of a list without quoted strings, without blanks around them. Empty ones are left out.
    static func members(of list: some Collection<UInt8>) -> [String] {
        list.split(separator: UInt8(ascii: ",")).compactMap { member in
            let text = trimmed(Array(member)[...])
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
    }

    /// Bytes without the blanks around them.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop(while: \.isBlank)
        while rest.last?.isBlank == true { rest.removeLast() }
        return rest
    }
}
