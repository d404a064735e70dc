/// The directives of a `Cache-Control` field that matter to a private cache: those of a response
/// ([RFC 9111, 5.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2)), and whether a request accepts only a stored
/// response.
///
/// Directives for shared caches (`s-maxage`, `public`, `proxy-revalidate`) and unknown ones are skipped. The qualified form
/// of `no-cache` counts like the plain one, which is stricter. Malformed text never makes a response fresh for longer.
/// Reading takes time linear in the length of the fields.
///
/// ```swift
/// let directives = CacheDirectives(of: response.headerFields)
/// if directives.forbidsStoring { return }
/// ```
package struct CacheDirectives: Sendable, Hashable {
    /// The largest number of seconds that counts: some decades (RFC 9111, 1.2.2).
    package static let maximumSeconds: Int64 = 1 << 31

    /// The seconds of `max-age`; `nil` without the directive. A value that is no number is zero (RFC 9111, 4.2.1), and the
    /// smallest of several counts.
    package private(set) var maximumAge: Int64?
    /// Whether the server wants to be asked before each use (`no-cache`).
    package private(set) var requiresValidation = false
    /// Whether the server forbids to store the response (`no-store`).
    package private(set) var forbidsStoring = false
    /// Whether a stale response must not be used without the server (`must-revalidate`).
    package private(set) var requiresValidationWhenStale = false
    /// Whether the response is for one user only (`private`). The qualified form counts like the plain one, which is stricter.
    package private(set) var isPrivate = false
    /// Whether a request accepts only a stored response (`only-if-cached`, RFC 9111, 5.2.1.7).
    package private(set) var requiresStored = false

    /// Reads all lines of the field.
    package init(of fields: HTTPFields) {
        for field in fields where field.name == .cacheControl {
            var reader = CacheDirectiveReader(Array(field.value.utf8))
            while let directive = reader.next() { add(directive) }
        }
    }

    private mutating func add(_ directive: CacheDirectiveReader.Directive) {
        switch directive.name {
        case "max-age":
            let seconds = directive.value.flatMap { Self.seconds($0) } ?? 0
            maximumAge = min(maximumAge ?? seconds, seconds)
        case "no-cache": requiresValidation = true
        case "no-store": forbidsStoring = true
        case "private": isPrivate = true
        case "must-revalidate": requiresValidationWhenStale = true
        case "only-if-cached": requiresStored = true
        default: break
        }
    }

    /// A number of seconds (RFC 9111, 1.2.2), at most ``maximumSeconds``; `nil` if the bytes are not digits only.
    static func seconds(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var seconds: Int64 = 0
        for digit in digits {
            guard digit.isASCIIDigit else { return nil }
            // Ten times the limit is far from an overflow.
            seconds = min(seconds * 10 + Int64(digit & 0x0f), maximumSeconds)
        }
        return seconds
    }
}

/// Reads the directives of one `Cache-Control` line, a list of names that may have a token or a quoted string as value.
struct CacheDirectiveReader {
    /// A directive with its name in lower case.
    struct Directive: Equatable {
        let name: String
        /// The value without quotes; `nil` if there is none, or if it is malformed.
        let value: [UInt8]?
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
        return Directive(name: String(decoding: name, as: UTF8.self).lowercased(), value: value)
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
