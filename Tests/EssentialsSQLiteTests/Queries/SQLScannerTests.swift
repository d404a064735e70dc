import TestTools

#if Persistence
    import Testing

    @testable import EssentialsSQLite

    /// The tokens of texts in SQL.
    struct SQLScannerTests {
        private struct Vector: Sendable, CustomTestStringConvertible {
            let sql: String
            let tokens: [SQLToken]
            var testDescription: String { sql }

            init(_ sql: String, _ tokens: SQLToken...) { (self.sql, self.tokens) = (sql, tokens) }
        }

        private static let quotes = [
            Vector("'a''b'", .string("a'b")), Vector("\"a\"\"b\"", .name("a\"b")), Vector("`a``b`", .name("a`b")),
            Vector("[a]]b]", .name("a"), .invalid("]"), .word("b"), .invalid("]")),
            Vector("''\"\"``[]", .string(""), .name(""), .name(""), .name("")),
            Vector("'a\"b'", .string("a\"b")), Vector("\"--\"'/*'[(]", .name("--"), .string("/*"), .name("(")),
            Vector("'a", .invalid("'a")), Vector("\"a\"\"", .invalid("\"a\"\"")), Vector("`", .invalid("`")),
            Vector("[a'", .invalid("[a'")), Vector("'é'", .string("é")),
        ]
        private static let comments = [
            Vector(""), Vector(" \t\n\u{c}\r"), Vector("\u{feff}a", .word("a")), Vector("--"), Vector("-- a 'b"),
            Vector("--a\nb", .word("b")), Vector("a--\r\nb", .word("a"), .word("b")), Vector("/* a 'b */c", .word("c")),
            Vector("/**/a/***/b", .word("a"), .word("b")), Vector("/*/a"),
            Vector("/* a */*/b", .symbol("*"), .symbol("/"), .word("b")),
            Vector("/*"), Vector("/", .symbol("/")), Vector("a-/b", .word("a"), .symbol("-"), .symbol("/"), .word("b")),
        ]
        private static let literals = [
            Vector("x'4F'X''", .blob("4F"), .blob("")), Vector("x'4'", .invalid("x'4'")),
            Vector("x'g0'a", .invalid("x'g0'"), .word("a")),
            Vector("x'40", .invalid("x'40")), Vector("x '40'", .word("x"), .string("40")),
            Vector("xx'4'", .word("xx"), .string("4")),
            Vector("0 12 1.5 1. .5", .number("0"), .number("12"), .number("1.5"), .number("1."), .number(".5")),
            Vector("1e5 1E-5 1.5e+5", .number("1e5"), .number("1E-5"), .number("1.5e+5")),
            Vector("0x1F 0XaB", .number("0x1F"), .number("0XaB")), Vector("1_000", .number("1_000")),
            Vector("0x 1e 1e+ 12a", .invalid("0x"), .invalid("1e"), .invalid("1e"), .symbol("+"), .invalid("12a")),
            Vector("1..2", .number("1."), .number(".2")), Vector("1__0", .invalid("1__0")),
        ]
        private static let names = [
            Vector("SELECT a_1,_b", .word("SELECT"), .word("a_1"), .symbol(","), .word("_b")),
            Vector("é$1.rowid", .word("é$1"), .symbol("."), .word("rowid")), Vector("a\"b\"", .word("a"), .name("b")),
            Vector("?", .parameter("?")), Vector("?12a", .parameter("?12"), .word("a")),
            Vector(":a @b #c", .parameter(":a"), .parameter("@b"), .parameter("#c")),
            Vector("$a::b(c d)", .invalid("$a::b(c"), .word("d"), .symbol(")")),
            Vector("$a::b(c)d", .parameter("$a::b(c)"), .word("d")),
            Vector(": $ ::", .invalid(":"), .invalid("$"), .invalid(":"), .invalid(":")),
            Vector("@a(", .invalid("@a(")),
        ]
        private static let symbols = [
            Vector(
                "(),;.+-*/%&|~", .symbol("("), .symbol(")"), .symbol(","), .symbol(";"), .symbol("."), .symbol("+"),
                .symbol("-"), .symbol("*"), .symbol("/"), .symbol("%"), .symbol("&"), .symbol("|"), .symbol("~")),
            Vector("a->b->>'c'", .word("a"), .symbol("->"), .word("b"), .symbol("->>"), .string("c")),
            Vector("< > = ==", .symbol("<"), .symbol(">"), .symbol("="), .symbol("==")),
            Vector("!= <> <= >=", .symbol("!="), .symbol("<>"), .symbol("<="), .symbol(">=")),
            Vector("<< >> ||", .symbol("<<"), .symbol(">>"), .symbol("||")), Vector("<<=", .symbol("<<"), .symbol("=")),
            Vector("! ^ \\ { \0", .invalid("!"), .invalid("^"), .invalid("\\"), .invalid("{"), .invalid("\0")),
        ]

        @Test(
            "A text is split into the tokens that SQLite finds",
            arguments: quotes + comments + literals + names + symbols)
        private func tokens(_ vector: Vector) { #expect(Array(SQLScanner(vector.sql)) == vector.tokens) }

        @Test("The position is after the last token, and the caller can read the text between two positions")
        func positions() {
            let sql = "a ( é /* ) */ + (1)) b"
            var scanner = SQLScanner(sql)
            while let token = scanner.next(), token != .symbol("(") {}
            let start = scanner.position
            let isClosed = scanner.skipParentheses()
            #expect(isClosed && scanner.text(start..<scanner.position) == " é /* ) */ + (1))")
            #expect(scanner.text(0..<1_000) == sql && scanner.text(500..<1_000).isEmpty)
            #expect(Array(scanner) == [.word("b")])
            scanner = SQLScanner("(')'")
            let isOpen = !scanner.skipParentheses()
            #expect(isOpen && Array(scanner).isEmpty)
        }

        @Test(
            "The time to read a text grows with its length",
            arguments: ["'", "\"\"", "[", "/*", "--", "x'", "1_", "$a::", "$a(", ".", "(", "é", "\u{feff}"])
        func linear(part: String) throws {
            #expect(
                try GrowthOfTime.isLinear(from: 4_000) { size in
                    let sql = String(repeating: part, count: size)
                    return { for _ in SQLScanner(sql) {} }
                })
        }
    }
#endif
