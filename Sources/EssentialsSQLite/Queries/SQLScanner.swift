#if Persistence
    /// A part of a text in SQL.
    enum SQLToken: Sendable, Hashable {
        /// A keyword, or a name without quotes.
        case word(String)
        /// A name in `"…"`, `` `…` `` or `[…]`, without its quotes. SQLite treats some of these as strings.
        case name(String)
        /// A text in `'…'`, without its quotes. SQLite treats some of these as names.
        case string(String)
        /// The digits of a literal such as `x'4f'`.
        case blob(String)
        case number(String)
        /// A parameter, including its first character.
        case parameter(String)
        /// An operator, a parenthesis, a comma, a point or a semicolon.
        case symbol(String)
        /// A quote that is not closed, or a character that SQL does not have.
        case invalid(String)
    }

    /// Splits a text in SQL into tokens, as SQLite does. It skips spaces and comments.
    ///
    /// It reads each byte once, and accepts every text. `SELECT name -- all` yields the words `SELECT` and `name`.
    struct SQLScanner: Sequence, IteratorProtocol {
        private let bytes: [UInt8]
        /// The position after the last token, in bytes of UTF-8.
        private(set) var position = 0

        init(_ sql: String) { bytes = Array(sql.utf8) }

        /// The text between two positions.
        func text(_ range: Range<Int>) -> String {
            String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
        }

        /// The next token; `nil` at the end.
        mutating func next() -> SQLToken? {
            skipSpace()
            guard let byte = byte() else { return nil }
            let start = position
            switch byte {
            case UInt8(ascii: "'"): return quoted(until: byte).map { .string($0) } ?? .invalid(text(start..<position))
            case UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
                let end = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
                return quoted(until: end).map { .name($0) } ?? .invalid(text(start..<position))
            case UInt8(ascii: "x") where isAt(1, "'"), UInt8(ascii: "X") where isAt(1, "'"): return blob()
            case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
            case UInt8(ascii: ".") where Self.isDigit(self.byte(1)): return number()
            case UInt8(ascii: "?"):
                position += 1
                skip(Self.isDigit)
                return .parameter(text(start..<position))
            case UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "#"): return parameter()
            default:
                guard Self.isOfWord(byte) else { return symbol() }
                skip(Self.isOfWord)
                return .word(text(start..<position))
            }
        }

        /// Moves past the parenthesis that closes the one before the position, and returns whether it exists.
        @discardableResult
        mutating func skipParentheses() -> Bool {
            var depth = 1
            while let token = next() {
                if token == .symbol("(") { depth += 1 }
                if token == .symbol(")") { depth -= 1 }
                if depth == 0 { return true }
            }
            return false
        }

        // MARK: Tokens

        /// The text before a closing quote; `nil` if that is missing. A doubled quote stands for one quote, except for
        /// brackets.
        private mutating func quoted(until end: UInt8) -> String? {
            position += 1
            var text: [UInt8] = []
            while let byte = byte() {
                position += 1
                if byte == end {
                    guard end != UInt8(ascii: "]"), self.byte() == end else {
                        return String(decoding: text, as: UTF8.self)
                    }
                    position += 1
                }
                text.append(byte)
            }
            return nil
        }

        private mutating func blob() -> SQLToken {
            let start = position
            position += 2
            skip(Self.isHexDigit)
            let end = position
            skip { $0 != UInt8(ascii: "'") }
            let isClosed = position < bytes.count
            if isClosed { position += 1 }
            let isValid = isClosed && position == end + 1 && (end - start).isMultiple(of: 2)
            return isValid ? .blob(text(start + 2..<end)) : .invalid(text(start..<position))
        }

        /// A number, including letters that follow it directly, which SQLite refuses.
        private mutating func number() -> SQLToken {
            let start = position
            if byte() == UInt8(ascii: "0"), isAt(1, "xX"), Self.isHexDigit(byte(2)) {
                position += 2
                skipDigits(Self.isHexDigit)
            } else {
                skipDigits(Self.isDigit)
                if isAt(0, ".") {
                    position += 1
                    skipDigits(Self.isDigit)
                }
                if isAt(0, "eE"), Self.isDigit(byte(isAt(1, "+-") ? 2 : 1)) {
                    position += 2
                    skipDigits(Self.isDigit)
                }
            }
            let end = position
            skip(Self.isOfWord)
            return position == end ? .number(text(start..<end)) : .invalid(text(start..<position))
        }

        /// A parameter with a name. It may have parts after `::` and end with parentheses.
        private mutating func parameter() -> SQLToken {
            let start = position
            position += 1
            var hasName = false
            while let byte = byte() {
                if Self.isOfWord(byte) {
                    hasName = true
                    position += 1
                } else if isAt(0, ":"), isAt(1, ":") {
                    position += 2
                } else if hasName, isAt(0, "(") {
                    skip { !Self.isSpace($0) && $0 != UInt8(ascii: ")") }
                    guard isAt(0, ")") else { return .invalid(text(start..<position)) }
                    position += 1
                    break
                } else {
                    break
                }
            }
            return hasName ? .parameter(text(start..<position)) : .invalid(text(start..<position))
        }

        private mutating func symbol() -> SQLToken {
            let start = position
            let following: StaticString =
                switch bytes[start] {
                case UInt8(ascii: "-"): ">"
                case UInt8(ascii: "<"): "=><"
                case UInt8(ascii: ">"): "=>"
                case UInt8(ascii: "="), UInt8(ascii: "!"): "="
                case UInt8(ascii: "|"): "|"
                default: ""
                }
            position += 1
            if isAt(0, following) {
                position += 1
                // The operator `->>`.
                if bytes[start] == UInt8(ascii: "-"), isAt(0, ">") { position += 1 }
            }
            let text = text(start..<position)
            return Self.symbols.contains(text) ? .symbol(text) : .invalid(text)
        }

        private static let symbols: Set = [
            "(", ")", ",", ";", ".", "+", "-", "*", "/", "%", "&", "|", "~", "<", ">", "=", "==", "!=", "<>", "<=",
            ">=",
            "<<", ">>", "||", "->", "->>",
        ]

        // MARK: Bytes

        /// The byte at an offset from the position; `nil` at the end.
        private func byte(_ offset: Int = 0) -> UInt8? {
            position + offset < bytes.count ? bytes[position + offset] : nil
        }

        /// Whether one of these characters is at an offset from the position.
        private func isAt(_ offset: Int, _ characters: StaticString) -> Bool {
            guard let byte = byte(offset) else { return false }
            return characters.withUTF8Buffer { $0.contains(byte) }
        }

        private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
            while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
        }

        /// Skips digits. Newer versions of SQLite allow `_` between them.
        private mutating func skipDigits(_ isDigit: (UInt8?) -> Bool) {
            while isDigit(byte()) || isAt(0, "_") && isDigit(byte(1)) { position += 1 }
        }

        private mutating func skipSpace() {
            while let byte = byte() {
                if Self.isSpace(byte) {
                    position += 1
                } else if byte == 0xEF, self.byte(1) == 0xBB, self.byte(2) == 0xBF {
                    // SQLite treats the byte order mark as a space.
                    position += 3
                } else if isAt(0, "-"), isAt(1, "-") {
                    skip { $0 != 10 }
                } else if isAt(0, "/"), isAt(1, "*") {
                    position += 2
                    while position < bytes.count, !(isAt(0, "*") && isAt(1, "/")) { position += 1 }
                    position = Swift.min(position + 2, bytes.count)
                } else {
                    return
                }
            }
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) && byte != 11 }

        private static func isDigit(_ byte: UInt8?) -> Bool {
            byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        }

        private static func isHexDigit(_ byte: UInt8?) -> Bool {
            isDigit(byte) || byte.map { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0 & 0xDF) } ?? false
        }

        private static func isOfWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "$"), 0x80...:
                true
            default: isDigit(byte)
            }
        }
    }
#endif
