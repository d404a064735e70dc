extension JSONParser {
    mutating func word(_ word: StaticString, _ value: JSONValue) throws(Fault) -> JSONValue {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[index...].starts(with: letters) else { throw fault("a value is missing") }
        index += letters.count
        return value
    }

    // MARK: Numbers

    /// A whole number if it fits 64 bits, also if it has a fraction of zero; otherwise the nearest `Double`.
    mutating func number() throws(Fault) -> JSONValue {
        let start = index
        let isNegative = take("-")
        let first = peek
        let whole = digits()
        guard !whole.isEmpty else { throw fault("a value is missing", at: start) }
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
        guard isWellFormed else { throw fault("a number is not written as JSON has them", at: start) }
        if isWhole, let value = integer(bytes[whole], isNegative: isNegative) { return value }
        guard let double = Double(String(decoding: bytes[start..<index], as: UTF8.self)), double.isFinite else {
            throw fault("a number is greater than any that can be read", at: start)
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
        while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
        return start..<index
    }

    // MARK: Strings

    mutating func string() throws(Fault) -> String {
        index += 1
        let start = index
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return try text(bytes[start..<(index - 1)], at: start)
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            if byte < 0x20 { throw fault("a text has a control character") }
            index += 1
        }
        throw fault("a text has no end")
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
            case 0..<0x20: throw fault("a text has a control character")
            default:
                let run = index
                while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                    index += 1
                }
                string += try text(bytes[run..<index], at: run)
            }
        }
        throw fault("a text has no end")
    }

    private func text(_ run: ArraySlice<UInt8>, at start: Int) throws(Fault) -> String {
        if let text = run.withUnsafeBufferPointer({ String(validating: $0, as: UTF8.self) }) { return text }
        var (parser, iterator, offset) = (Unicode.UTF8.ForwardParser(), run.makeIterator(), start)
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
        throw fault("a text is no UTF-8 at the byte offset \(offset)", at: offset)
    }

    private mutating func escape() throws(Fault) -> Unicode.Scalar {
        let start = index
        index += 1
        guard let kind = peek else { throw fault("a text has no end") }
        index += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint(from: start)
        default: throw fault("a text has an escape that JSON does not know", at: start)
        }
    }

    /// The scalar of a `\u` escape, combined with the second escape of a surrogate pair.
    private mutating func codePoint(from start: Int) throws(Fault) -> Unicode.Scalar {
        guard let first = unit() else { throw fault("an escape lacks its four digits", at: start) }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, take("\\"), take("u"), let second = unit(), (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
        else { throw fault("an escape is half of a surrogate pair", at: start) }
        return scalar
    }

    private mutating func unit() -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[index..<(index + 4)] {
            guard let digit = PercentCoding.digit(byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        index += 4
        return unit
    }
}
