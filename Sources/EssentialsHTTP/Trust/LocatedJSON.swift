/// A JSON value with its line number, so that errors can be located (RFC 8259).
///
/// It is meant for small files that people write: it is strict, holds the whole file in memory, and allows 32 levels.
package struct LocatedJSON {
    package indirect enum Value {
        case object([Member])
        case array([LocatedJSON])
        case string(String)
        case number(Double)
        case bool(Bool)
        case null
    }

    package struct Member {
        package let name: String
        /// The line of the name.
        package let line: Int
        package let value: LocatedJSON
    }

    /// An error and its line.
    package struct Fault: Error {
        package let line: Int
        package let text: String
        /// The failure of validating the value itself.
        package var underlying: RequestFailure?

        package init(line: Int, text: String, underlying: RequestFailure? = nil) {
            self.line = line
            self.text = text
            self.underlying = underlying
        }
    }

    package let value: Value
    /// The line at which the value begins, counted from 1.
    package let line: Int

    /// Parses a text that contains one value.
    package init(_ text: String) throws(Fault) {
        var reader = Reader(bytes: Array(text.utf8))
        self = try reader.whole()
    }

    package init(value: Value, line: Int) {
        self.value = value
        self.line = line
    }

    /// The kind of the value in JSON's terms.
    package var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }

    /// The string; throws if the value is not a string.
    package func text() throws(Fault) -> String {
        guard case .string(let text) = value else { throw wrong(expected: "a string") }
        return text
    }

    /// The error that the value is not what was expected.
    package func wrong(expected: String) -> Fault {
        var found = kind
        if case .string(let text) = value { found = "“\(RequestFailure.shown(text))”" }
        return Fault(line: line, text: "Expected \(expected), not \(found).")
    }
}

extension LocatedJSON {
    fileprivate struct Reader {
        let bytes: [UInt8]
        private var index = 0
        private var line = 1
        private var depth = 0
        private static let maximumDepth = 32

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func whole() throws(Fault) -> LocatedJSON {
            let value = try value()
            skipSpace()
            guard index == bytes.count else { throw fault("Unexpected text after the end: \(shown()).") }
            return value
        }

        private mutating func value() throws(Fault) -> LocatedJSON {
            skipSpace()
            let start = line
            guard let byte = peek else { throw fault("The text ends where a value is expected.") }
            switch byte {
            case UInt8(ascii: "{"): return LocatedJSON(value: .object(try members()), line: start)
            case UInt8(ascii: "["): return LocatedJSON(value: .array(try elements()), line: start)
            case UInt8(ascii: "\""): return LocatedJSON(value: .string(try string()), line: start)
            case UInt8(ascii: "t"): return try word("true", .bool(true))
            case UInt8(ascii: "f"): return try word("false", .bool(false))
            case UInt8(ascii: "n"): return try word("null", .null)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                return LocatedJSON(value: .number(try number()), line: start)
            default: throw fault("\(shown()) is not a value.")
            }
        }

        private mutating func members() throws(Fault) -> [Member] {
            try enter()
            var members: [Member] = []
            var names: Set<String> = []
            skipSpace()
            if take("}") { return leave(members) }
            while true {
                skipSpace()
                let start = line
                guard peek == UInt8(ascii: "\"") else { throw fault("Expected a name in quotation marks.") }
                let name = try string()
                guard names.insert(name).inserted else {
                    throw Fault(line: start, text: "“\(RequestFailure.shown(name))” occurs twice.")
                }
                skipSpace()
                guard take(":") else { throw fault("Expected a colon after the name.") }
                members.append(Member(name: name, line: start, value: try value()))
                skipSpace()
                if take("}") { return leave(members) }
                guard take(",") else { throw fault("Expected a comma or “}”.") }
            }
        }

        private mutating func elements() throws(Fault) -> [LocatedJSON] {
            try enter()
            var elements: [LocatedJSON] = []
            skipSpace()
            if take("]") { return leave(elements) }
            while true {
                elements.append(try value())
                skipSpace()
                if take("]") { return leave(elements) }
                guard take(",") else { throw fault("Expected a comma or “]”.") }
            }
        }

        private mutating func string() throws(Fault) -> String {
            index += 1
            var text: [UInt8] = []
            while let byte = peek {
                index += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = String(validating: text, as: UTF8.self) else {
                        throw fault("A string is not valid UTF-8.")
                    }
                    return string
                case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
                case 0..<0x20: throw fault("A string contains a line break or another control character.")
                default: text.append(byte)
                }
            }
            throw fault("A string has no end.")
        }

        private mutating func escape() throws(Fault) -> Character {
            guard let byte = peek else { throw fault("A string has no end.") }
            index += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{c}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "u"): return Character(try scalar())
            default: throw fault("A string contains an invalid escape.")
            }
        }

        private mutating func scalar() throws(Fault) -> Unicode.Scalar {
            let first = try unit()
            if let scalar = Unicode.Scalar(first) { return scalar }
            // A surrogate must be followed by its other half.
            guard first < 0xdc00, take("\\"), take("u") else { throw fault("A \\u escape is half of a character.") }
            let second = try unit()
            guard (0xdc00..<0xe000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
            else { throw fault("A \\u escape is half of a character.") }
            return scalar
        }

        private mutating func unit() throws(Fault) -> UInt16 {
            let digits = bytes[index...].prefix(4).compactMap(\.hexDigitValue)
            guard digits.count == 4 else { throw fault("A \\u escape needs four hexadecimal digits.") }
            index += 4
            return digits.reduce(0) { $0 << 4 | UInt16($1) }
        }

        private mutating func number() throws(Fault) -> Double {
            let start = index
            _ = take("-")
            let whole = digits()
            let isPlain = whole.count > 0 && (whole.count == 1 || whole.first != UInt8(ascii: "0"))
            var isWellFormed = isPlain
            if take(".") { isWellFormed = digits().count > 0 && isWellFormed }
            if take("e") || take("E") {
                if !take("+") { _ = take("-") }
                isWellFormed = digits().count > 0 && isWellFormed
            }
            guard isWellFormed, let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
                throw fault("A number is malformed.")
            }
            return number
        }

        private mutating func digits() -> ArraySlice<UInt8> {
            let found = bytes[index...].prefix(while: \.isASCIIDigit)
            index = found.endIndex
            return found
        }

        private mutating func word(_ word: String, _ value: Value) throws(Fault) -> LocatedJSON {
            guard bytes[index...].starts(with: word.utf8) else { throw fault("\(shown()) is not a value.") }
            index += word.utf8.count
            return LocatedJSON(value: value, line: line)
        }

        // MARK: Bytes

        private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard peek == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        private mutating func skipSpace() {
            while let byte = peek, [0x20, 0x09, 0x0a, 0x0d].contains(byte) {
                if byte == 0x0a { line += 1 }
                index += 1
            }
        }

        private mutating func enter() throws(Fault) {
            index += 1
            depth += 1
            guard depth <= Self.maximumDepth else {
                throw fault("It is nested more than \(Self.maximumDepth) levels deep.")
            }
        }

        private mutating func leave<Result>(_ result: Result) -> Result {
            depth -= 1
            return result
        }

        /// The rest of the line for a message.
        private func shown() -> String {
            let rest = bytes[min(index, bytes.count)...].prefix { $0 != 0x0a }.prefix(20)
            return "“\(RequestFailure.shown(String(decoding: rest, as: UTF8.self)))”"
        }

        private func fault(_ text: String) -> Fault { Fault(line: line, text: text) }
    }
}
