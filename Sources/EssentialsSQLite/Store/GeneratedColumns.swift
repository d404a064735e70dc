#if Persistence
    /// The expressions of generated columns, read from the SQL text of a table. No pragma returns them.
    ///
    /// The text must be one that SQLite has accepted.
    struct GeneratedColumns {
        /// The words that begin a constraint of the table.
        private static let constraints: Set = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]

        private var scanner: SQLScanner
        private var expressions: [String: String] = [:]

        /// The expressions without their outer parentheses, by the names of the columns.
        static func expressions(in sql: String) -> [String: String] {
            var reader = GeneratedColumns(scanner: SQLScanner(sql))
            reader.read()
            return reader.expressions
        }

        private init(scanner: SQLScanner) { self.scanner = scanner }

        private mutating func read() {
            while let token = scanner.next(), token != .symbol("(") {}
            var column: String?
            var isFirst = true
            while let token = scanner.next() {
                switch token {
                case .symbol(")"): return
                case .symbol(","): (column, isFirst) = (nil, true)
                case .symbol("("): scanner.skipParentheses()
                case .name(let name), .string(let name):
                    if isFirst { (column, isFirst) = (name, false) }
                case .word(let word) where isFirst:
                    isFirst = false
                    column = Self.constraints.contains(word.uppercased()) ? nil : word
                case .word(let word):
                    if word.uppercased() == "AS", let column { readExpression(of: column) }
                case .symbol, .blob, .number, .parameter, .invalid: isFirst = false
                }
            }
        }

        private mutating func readExpression(of column: String) {
            guard scanner.next() == .symbol("(") else { return }
            let start = scanner.position
            guard scanner.skipParentheses() else { return }
            expressions[column] = scanner.text(start..<scanner.position - 1)
        }
    }
#endif
