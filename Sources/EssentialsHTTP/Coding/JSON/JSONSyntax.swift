#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds where a text stops being JSON (RFC 8259), for a message: Foundation's decoder on Linux does not say.
struct JSONSyntax {
    private struct Fault: Error {
        let what: String
    }

    private enum Expected {
        case value, valueOrEnd, name, nameOrEnd, commaOrEnd, nothing
    }

    private let bytes: [UInt8]
    private var index = 0
    /// Of each open container, whether it is an object.
    private var isObject: [Bool] = []
    /// What Foundation's decoder allows.
    private static let maximumDepth = 512

    /// Where and what, without anything of the text; nil when it is JSON, or is in UTF-16 or UTF-32.
    static func fault(in body: Data) -> String? {
        var syntax = JSONSyntax(bytes: Array(body))
        // JSON in UTF-16 or UTF-32 has a zero among its first two bytes, or a byte order mark.
        guard !syntax.bytes.prefix(2).contains(where: { $0 == 0 || $0 >= 0xfe }) else { return nil }
        if syntax.bytes.starts(with: [0xef, 0xbb, 0xbf]) { syntax.index = 3 }
        do {
            try syntax.check()
            return String(validating: syntax.bytes, as: UTF8.self) == nil ? "a text in it is no UTF-8" : nil
        } catch {
            return "\(syntax.place) \(error.what)"
        }
    }

    /// Counted from 1; the column in bytes.
    private var place: String {
        let before = bytes.prefix(index)
        let line = before.count { $0 == 0x0a } + 1
        let column = index - (before.lastIndex(of: 0x0a) ?? -1)
        return "at line \(line), column \(column)"
    }

    private mutating func check() throws(Fault) {
        var expected = Expected.value
        while true {
            skipSpace()
            guard let byte = peek else {
                guard expected == .nothing else { throw Fault(what: "it ends too early") }
                return
            }
            switch expected {
            case .nothing: throw Fault(what: "something follows the end")
            case .commaOrEnd: expected = try afterValue(byte)
            case .name, .nameOrEnd:
                if expected == .nameOrEnd, byte == UInt8(ascii: "}") {
                    expected = close()
                } else {
                    guard byte == UInt8(ascii: "\"") else { throw Fault(what: "a name in quotation marks is missing") }
                    try string()
                    skipSpace()
                    guard take(":") else { throw Fault(what: "a colon is missing") }
                    expected = .value
                }
            case .value, .valueOrEnd:
                if expected == .valueOrEnd, byte == UInt8(ascii: "]") {
                    expected = close()
                } else {
                    expected = try value(byte)
                }
            }
        }
    }

    /// Goes past a scalar or into a container.
    private mutating func value(_ byte: UInt8) throws(Fault) -> Expected {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard isObject.count < Self.maximumDepth else {
                throw Fault(what: "it is nested more than \(Self.maximumDepth) deep")
            }
            index += 1
            isObject.append(byte == UInt8(ascii: "{"))
            return byte == UInt8(ascii: "{") ? .nameOrEnd : .valueOrEnd
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
        return isObject.isEmpty ? .nothing : .commaOrEnd
    }

    private mutating func afterValue(_ byte: UInt8) throws(Fault) -> Expected {
        let isInObject = isObject.last == true
        if byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return close() }
        guard take(",") else {
            throw Fault(what: isInObject ? "a comma or “}” is missing" : "a comma or “]” is missing")
        }
        return isInObject ? .name : .value
    }

    private mutating func close() -> Expected {
        index += 1
        _ = isObject.popLast()
        return isObject.isEmpty ? .nothing : .commaOrEnd
    }

    private mutating func string() throws(Fault) {
        index += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw Fault(what: "a text has a control character")
            default: index += 1
            }
        }
        throw Fault(what: "a text has no end")
    }

    private mutating func escape() throws(Fault) {
        let kind = bytes.dropFirst(index + 1).first
        switch kind {
        case UInt8(ascii: "u"):
            let digits = bytes.dropFirst(index + 2).prefix(4)
            guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                throw Fault(what: "an escape lacks its four digits")
            }
            index += 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        default: throw Fault(what: "a text has an escape that JSON does not know")
        }
    }

    private mutating func word(_ word: String) throws(Fault) {
        guard bytes.dropFirst(index).starts(with: word.utf8) else { throw Fault(what: "a value is missing") }
        index += word.utf8.count
    }

    private mutating func number() throws(Fault) {
        let start = index
        _ = take("-")
        let first = peek
        let count = digits()
        guard count > 0 else {
            index = start
            throw Fault(what: "a value is missing")
        }
        var isWellFormed = count == 1 || first != UInt8(ascii: "0")
        if take(".") { isWellFormed = digits() > 0 && isWellFormed }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            isWellFormed = digits() > 0 && isWellFormed
        }
        guard isWellFormed else {
            index = start
            throw Fault(what: "a number is not written as JSON has them")
        }
    }

    // MARK: Bytes

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func digits() -> Int {
        let start = index
        while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
        return index - start
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }
}
