#if Persistence
    /// The expressions of generated columns in the text of a table, which no pragma tells.
    ///
    /// The text is one that SQLite has accepted. It is read once, byte by byte.
    struct GeneratedColumns {
        private enum Token: Equatable {
            case word(String)
            /// A name in quotes, or a text.
            case quoted(String)
            case open, close, comma, other
        }

        /// The words that begin a constraint of the table.
        private static let constraints: Set = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]

        private let bytes: [UInt8]
        private var position = 0
        private var expressions: [String: String] = [:]

        /// The expressions without their outer parentheses, by the names of the columns.
        static func expressions(in sql: String) -> [String: String] {
            var reader = GeneratedColumns(bytes: Array(sql.utf8))
            reader.read()
            return reader.expressions
        }

        private init(bytes: [UInt8]) { self.bytes = bytes }

        private mutating func read() {
            while let token = next(), token != .open {}
            var column: String?
            var isFirst = true
            while let token = next() {
                switch token {
                case .close: return
                case .comma: (column, isFirst) = (nil, true)
                case .open: skipParentheses()
                case .quoted(let name):
                    if isFirst { (column, isFirst) = (name, false) }
                case .word(let word) where isFirst:
                    isFirst = false
                    column = Self.constraints.contains(word.uppercased()) ? nil : word
                case .word(let word):
                    if word.uppercased() == "AS", let column { readExpression(of: column) }
                case .other: isFirst = false
                }
            }
        }

        private mutating func readExpression(of column: String) {
            guard next() == .open else { return }
            let start = position
            skipParentheses()
            guard position > start, bytes[position - 1] == UInt8(ascii: ")") else { return }
            expressions[column] = String(decoding: bytes[start..<position - 1], as: UTF8.self)
        }

        /// Moves behind the parenthesis that closes the one before the position.
        private mutating func skipParentheses() {
            var depth = 1
            while depth > 0, let token = next() {
                if token == .open { depth += 1 }
                if token == .close { depth -= 1 }
            }
        }

        // MARK: Tokens

        /// The next token; `nil` at the end. Spaces and comments are skipped.
        private mutating func next() -> Token? {
            skipSpace()
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "("): return .open
            case UInt8(ascii: ")"): return .close
            case UInt8(ascii: ","): return .comma
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): return .quoted(quoted(until: byte))
            case UInt8(ascii: "["): return .quoted(quoted(until: UInt8(ascii: "]")))
            default:
                guard Self.isOfWord(byte) else { return .other }
                let start = position - 1
                while position < bytes.count, Self.isOfWord(bytes[position]) { position += 1 }
                return .word(String(decoding: bytes[start..<position], as: UTF8.self))
            }
        }

        private static func isOfWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 128...255:
                true
            default: false
            }
        }

        /// The text before a closing quote, which stands for itself if it is doubled, except for a bracket.
        private mutating func quoted(until end: UInt8) -> String {
            var text: [UInt8] = []
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if byte == end {
                    guard end != UInt8(ascii: "]"), position < bytes.count, bytes[position] == end else { break }
                    position += 1
                }
                text.append(byte)
            }
            return String(decoding: text, as: UTF8.self)
        }

        private mutating func skipSpace() {
            while position < bytes.count {
                if [9, 10, 12, 13, 32].contains(bytes[position]) {
                    position += 1
                } else if begins("--") {
                    while position < bytes.count, bytes[position] != 10 { position += 1 }
                } else if begins("/*") {
                    position += 2
                    while position < bytes.count, !begins("*/") { position += 1 }
                    position = min(position + 2, bytes.count)
                } else {
                    return
                }
            }
        }

        private func begins(_ text: StaticString) -> Bool {
            position + 1 < bytes.count && bytes[position] == text.utf8Start[0]
                && bytes[position + 1] == text.utf8Start[1]
        }
    }
#endif
