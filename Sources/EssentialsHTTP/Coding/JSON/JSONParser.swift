#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Parses JSON (RFC 8259) in one pass and without recursion.
///
/// The time is proportional to the length of the text. If an object has a name twice, the first value is used, as
/// Foundation's decoder on Linux does.
package struct JSONParser {
    /// The error, and the offset of the byte at which it was found.
    package struct Fault: Error {
        let offset: Int
        let text: String
        /// The sentence for the author of a file.
        let advice: String
    }

    private enum Purpose {
        case value
        /// Lines are kept, and a name that occurs twice is a fault.
        case located
        /// Halves of surrogate pairs and numbers of any size are accepted.
        case syntax
    }

    private enum Expected {
        case value, valueOrEnd, name, nameOrEnd, commaOrEnd, nothing
    }

    /// An array or object whose end has not been reached.
    private struct Open {
        let isObject: Bool
        let line: Int
        var elements: [JSONValue] = []
        var members: [String: JSONValue] = [:]
        var name = ""
        var nameLine = 0
        var parts: [LocatedJSON] = []
    }

    /// The maximum length in bytes of a name with non-ASCII characters. Comparing such names takes time that grows with
    /// the square of the number of consecutive combining marks.
    private static let maximumNameLength = 4 << 10

    private let bytes: [UInt8]
    private let purpose: Purpose
    private let maximumDepth: Int
    private var index = 0
    private var open: [Open] = []
    private var result = LocatedJSON(value: .null, line: 1, parts: [], name: "", nameLine: 1)
    /// The line of the last value or name whose line was kept, and the offset at which it begins.
    private var (line, lineOffset) = (1, 0)

    private init(_ bytes: [UInt8], _ purpose: Purpose) {
        self.bytes = bytes
        self.purpose = purpose
        maximumDepth = purpose == .located ? LocatedJSON.maximumDepth : JSONValue.maximumDepth
        if purpose == .value, bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    }

    /// Parses a document in UTF-8, UTF-16 or UTF-32, with or without a byte order mark.
    ///
    /// - Throws: ``Fault``, whose offset counts bytes of the document in UTF-8.
    package static func value(in body: Data) throws(Fault) -> JSONValue {
        var parser = JSONParser(try utf8(body), .value)
        return try parser.document().value
    }

    /// Parses a text and keeps the lines of all values.
    static func located(_ text: String) throws(LocatedJSON.Fault) -> LocatedJSON {
        var parser = JSONParser(Array(text.utf8), .located)
        do {
            return try parser.document()
        } catch {
            throw LocatedJSON.Fault(line: parser.line(of: error.offset), text: error.advice)
        }
    }

    /// Whether a text is valid JSON.
    package static func isValid(_ text: String) -> Bool {
        var parser = JSONParser(Array(text.utf8), .syntax)
        return (try? parser.document()) != nil
    }

    /// The place and the cause of a syntax error, without the contents; `nil` if the document is valid JSON.
    static func fault(in body: Data) -> String? {
        do {
            var parser = JSONParser(try utf8(body), .value)
            do {
                _ = try parser.document()
                return nil
            } catch {
                return "\(parser.place(of: error.offset)) \(error.text)"
            }
        } catch {
            return error.text
        }
    }

    private static func utf8(_ body: Data) throws(Fault) -> [UInt8] {
        guard let charset = Charset(byteOrderMarkOf: body) ?? charset(withoutMark: body), charset != .utf8 else {
            return Array(body)
        }
        guard let text = try? charset.decode(body) else {
            throw Fault(offset: 0, text: "it is not valid in the charset \(charset.name)", advice: "")
        }
        return Array(text.utf8)
    }

    /// The charset of a document without a byte order mark; `nil` for UTF-8. The first two characters of nearly all
    /// documents are ASCII, so the zeros among the first four bytes indicate the charset (RFC 4627, 3).
    private static func charset(withoutMark body: Data) -> Charset? {
        switch body.prefix(4).map({ $0 == 0 }) {
        case [true, true, true, false]: .utf32BigEndian
        case [false, true, true, true]: .utf32LittleEndian
        case [true, false, true, false], [true, false]: .utf16BigEndian
        case [false, true, false, true], [false, true]: .utf16LittleEndian
        default: nil
        }
    }

    /// The line, counted from 1, and the column, counted in bytes from 1.
    private func place(of offset: Int) -> String {
        let column = offset - (bytes.prefix(offset).lastIndex(of: 0x0a) ?? -1)
        return "at line \(line(of: offset)), column \(column)"
    }

    private func line(of offset: Int) -> Int { bytes.prefix(offset).count { $0 == 0x0a } + 1 }
}

// MARK: - Structure

extension JSONParser {
    private mutating func document() throws(Fault) -> LocatedJSON {
        var expected = Expected.value
        while true {
            skipSpace()
            let byte = peek
            switch expected {
            case .nothing:
                guard byte != nil else { return result }
                throw fault("something follows the end", "Unexpected text after the end: \(rest()).")
            case .commaOrEnd: expected = try afterValue(byte)
            case .nameOrEnd where byte == UInt8(ascii: "}"), .valueOrEnd where byte == UInt8(ascii: "]"):
                expected = close()
            case .name, .nameOrEnd:
                guard byte == UInt8(ascii: "\"") else { throw missing("a name in quotation marks") }
                open[open.count - 1].nameLine = keptLine()
                open[open.count - 1].name = try name()
                skipSpace()
                guard take(":") else { throw fault("a colon is missing", "Expected a colon after the name.") }
                expected = .value
            case .value, .valueOrEnd: expected = try value(byte)
            }
        }
    }

    /// Parses a scalar, or the beginning of an array or object.
    private mutating func value(_ byte: UInt8?) throws(Fault) -> Expected {
        let line = keptLine()
        switch byte {
        case nil: throw fault("it ends too early", "The text ends where a value is expected.")
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < maximumDepth else { throw fault("it is nested more than \(maximumDepth) levels deep") }
            index += 1
            open.append(Open(isObject: byte == UInt8(ascii: "{"), line: line))
            return byte == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
        case UInt8(ascii: "\""): return add(.string(try string()), at: line)
        case UInt8(ascii: "t"): return add(try word("true", .boolean(true)), at: line)
        case UInt8(ascii: "f"): return add(try word("false", .boolean(false)), at: line)
        case UInt8(ascii: "n"): return add(try word("null", .null), at: line)
        default: return add(try number(), at: line)
        }
    }

    private mutating func add(_ value: JSONValue, _ parts: [LocatedJSON] = [], at line: Int) -> Expected {
        let last = open.count - 1
        guard last >= 0 else {
            result = LocatedJSON(value: value, line: line, parts: parts, name: "", nameLine: line)
            return .nothing
        }
        let name = open[last].name
        if purpose == .located {
            open[last].parts.append(
                LocatedJSON(value: value, line: line, parts: parts, name: name, nameLine: open[last].nameLine))
        }
        if open[last].isObject {
            if let first = open[last].members.updateValue(value, forKey: name) {
                open[last].members[name] = first
            }
        } else {
            open[last].elements.append(value)
        }
        return .commaOrEnd
    }

    private mutating func name() throws(Fault) -> String {
        let start = index
        let name = try string()
        guard name.utf8.count <= Self.maximumNameLength || name.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw fault("a name outside ASCII has more than \(Self.maximumNameLength) bytes", at: start)
        }
        if purpose == .located, open.last?.members[name] != nil {
            throw fault("a name occurs twice", "“\(RequestFailure.shown(name))” occurs twice.", at: start)
        }
        return name
    }

    private mutating func afterValue(_ byte: UInt8?) throws(Fault) -> Expected {
        let isInObject = open.last?.isObject == true
        if byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return close() }
        guard take(",") else { throw missing("a comma or “\(isInObject ? "}" : "]")”") }
        return isInObject ? .name : .value
    }

    private mutating func close() -> Expected {
        index += 1
        guard let closed = open.popLast() else { return .nothing }
        return add(
            closed.isObject ? .object(closed.members) : .array(closed.elements), closed.parts, at: closed.line)
    }
}

// MARK: - Scalars

extension JSONParser {
    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Fault) -> JSONValue {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[index...].starts(with: letters) else { throw noValue(at: index) }
        index += letters.count
        return value
    }

    /// A whole number if it fits 64 bits, also if it has a fraction of zero; otherwise the nearest `Double`.
    private mutating func number() throws(Fault) -> JSONValue {
        let start = index
        let isNegative = take("-")
        let first = peek
        let whole = digits()
        guard !whole.isEmpty else { throw noValue(at: start) }
        var isWellFormed = whole.count == 1 || first != UInt8(ascii: "0")
        var isWhole = true
        if take(".") {
            let fraction = digits()
            isWellFormed = !fraction.isEmpty && isWellFormed
            isWhole = bytes[fraction].allSatisfy { $0 == UInt8(ascii: "0") }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            isWellFormed = !digits().isEmpty && isWellFormed
        }
        guard isWellFormed else { throw fault("a number is malformed", at: start) }
        if isWhole, let value = integer(bytes[whole], isNegative: isNegative) { return value }
        guard let double = Double(String(decoding: bytes[start..<index], as: UTF8.self)),
            double.isFinite || purpose == .syntax
        else {
            throw fault("a number is too large", at: start)
        }
        if isWhole { return .number(double) }
        if let integer = Int64(exactly: double) { return .integer(integer) }
        return UInt64(exactly: double).map { .unsigned($0) } ?? .number(double)
    }

    /// The value of the digits; `nil` if it does not fit 64 bits.
    private func integer(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> JSONValue? {
        var magnitude: UInt64 = 0
        for digit in digits {
            let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeAgain) = product.addingReportingOverflow(UInt64(digit) - 0x30)
            if isTooLarge || isTooLargeAgain { return nil }
            magnitude = sum
        }
        guard isNegative else { return .whole(magnitude) }
        return magnitude <= Int64.min.magnitude ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }

    private mutating func digits() -> Range<Int> {
        let start = index
        while let byte = peek, byte.isASCIIDigit { index += 1 }
        return start..<index
    }

    private mutating func string() throws(Fault) -> String {
        index += 1
        let start = index
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return try text(bytes[start..<(index - 1)], at: start)
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            if byte < 0x20 { throw controlCharacter }
            index += 1
        }
        throw fault("a string has no end")
    }

    /// Parses the rest of a string that contains escapes. Each run of bytes between escapes is validated separately.
    private mutating func escapedString(from start: Int) throws(Fault) -> String {
        var string = try text(bytes[start..<index], at: start)
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return string
            case UInt8(ascii: "\\"): string.unicodeScalars.append(try escape())
            case 0..<0x20: throw controlCharacter
            default:
                let run = index
                while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                    index += 1
                }
                string += try text(bytes[run..<index], at: run)
            }
        }
        throw fault("a string has no end")
    }

    private func text(_ run: ArraySlice<UInt8>, at start: Int) throws(Fault) -> String {
        if let text = run.withUnsafeBufferPointer({ String(validating: $0, as: UTF8.self) }) { return text }
        var (parser, iterator, offset) = (Unicode.UTF8.ForwardParser(), run.makeIterator(), start)
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
        throw fault("a string is not valid UTF-8 at the byte offset \(offset)", at: offset)
    }

    private mutating func escape() throws(Fault) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let kind = peek else { throw fault("a string has no end") }
        index += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint(from: start)
        default: throw fault("a string contains an invalid escape", at: start)
        }
    }

    /// The scalar of a `\u` escape, combined with the second escape of a surrogate pair.
    private mutating func codePoint(from start: Int) throws(Fault) -> Unicode.Scalar {
        guard let first = unit() else {
            throw fault(
                "an escape needs four hexadecimal digits", "A \\u escape needs four hexadecimal digits.", at: start)
        }
        if let scalar = Unicode.Scalar(first) { return scalar }
        let end = index
        guard first < 0xdc00, take("\\"), take("u"), let second = unit(), (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
        else {
            index = end
            if purpose == .syntax { return "\u{fffd}" }
            throw fault(
                "an escape is half of a surrogate pair", "A \\u escape is half of a character.", at: start)
        }
        return scalar
    }

    private mutating func unit() -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[index..<(index + 4)] {
            guard let digit = byte.hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        index += 4
        return unit
    }
}

// MARK: - Faults

extension JSONParser {
    /// - Parameter advice: The sentence for the author of a file, if it says more than the text.
    private func fault(_ text: String, _ advice: String? = nil, at offset: Int? = nil) -> Fault {
        Fault(
            offset: offset ?? index, text: text, advice: advice ?? text.prefix(1).uppercased() + text.dropFirst() + ".")
    }

    private func missing(_ what: String) -> Fault {
        fault(peek == nil ? "it ends too early" : "\(what) is missing", "Expected \(what).")
    }

    private func noValue(at start: Int) -> Fault {
        let isSign = bytes[start] == UInt8(ascii: "-")
        return fault(
            "a value is missing", isSign ? "A number is malformed." : "\(rest(at: start)) is not a value.", at: start)
    }

    private var controlCharacter: Fault {
        fault(
            "a string contains a control character",
            "A string contains a line break or another control character.")
    }

    /// The rest of the line for a message.
    private func rest(at offset: Int? = nil) -> String {
        let rest = bytes[(offset ?? index)...].prefix { $0 != 0x0a }.prefix(20)
        return "“\(RequestFailure.shown(String(decoding: rest, as: UTF8.self)))”"
    }
}

// MARK: - Bytes

extension JSONParser {
    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// The line of the next byte, counted from 1; 0 if lines are not kept.
    private mutating func keptLine() -> Int {
        guard purpose == .located else { return 0 }
        line += bytes[lineOffset..<index].count { $0 == 0x0a }
        lineOffset = index
        return line
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }
}
