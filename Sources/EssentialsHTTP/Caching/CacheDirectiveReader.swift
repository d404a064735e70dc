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

    private let bytes: [UInt8]
    private var index = 0
    /// Whether the closing quotation mark of a string was missing. No later string has one then: every later quotation
    /// mark was an escaped character of that string, and what follows it was read to the end without finding one.
    private var lacksClosingQuote = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next directive; `nil` at the end. One without a name has an empty one.
    mutating func next() -> Directive? {
        skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard index < bytes.count else { return nil }
        let name = prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\"") }
        skip(\.isBlank)
        var value: [UInt8]?
        let isBare = index == bytes.count || bytes[index] == UInt8(ascii: ",")
        if take(UInt8(ascii: "=")) {
            skip(\.isBlank)
            value = take(UInt8(ascii: "\"")) ? quoted() : Array(prefix { _ in true })
            skip(\.isBlank)
        } else if take(UInt8(ascii: "\"")) {
            // A string without a name means nothing, and neither do the commas in it.
            _ = quoted()
        }
        // Anything else before the next comma makes the value malformed.
        if index < bytes.count, bytes[index] != UInt8(ascii: ",") {
            value = nil
            skip { $0 != UInt8(ascii: ",") }
        }
        return Directive(name: String(decoding: name, as: UTF8.self).lowercased(), value: value, isBare: isBare)
    }

    /// The rest of a quoted string. Without its end it is `nil`, and reading goes on behind the opening quote, so that a
    /// missing quote hides no directive.
    private mutating func quoted() -> [UInt8]? {
        guard !lacksClosingQuote else { return nil }
        let start = index
        var content: [UInt8] = []
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return content }
            if byte == UInt8(ascii: "\\"), index < bytes.count {
                byte = bytes[index]
                index += 1
            }
            content.append(byte)
        }
        lacksClosingQuote = true
        index = start
        return nil
    }

    // MARK: Bytes

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func skip(_ condition: (UInt8) -> Bool) {
        while index < bytes.count, condition(bytes[index]) { index += 1 }
    }

    /// The bytes up to a blank, a comma, or one that does not meet a condition.
    private mutating func prefix(_ condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        skip { !$0.isBlank && $0 != UInt8(ascii: ",") && condition($0) }
        return bytes[start..<index]
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
