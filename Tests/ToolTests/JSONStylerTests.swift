import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: JSON style")
    struct JSONStylerTests {
        /// Styles a text in pieces of a few bytes, as it may arrive.
        private func styled(
            _ text: String, formats: Bool = true, colors: Bool = false, isProtected: Bool = true, piece: Int = 3
        ) -> String {
            var styler = JSONStyler(formats: formats, colors: colors, isProtected: isProtected)
            var chunks = UTF8Chunks()
            let bytes = Array(text.utf8)
            var output = ""
            for start in stride(from: 0, to: bytes.count, by: piece) {
                bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes {
                    output += styler.styled(chunks.text($0))
                }
            }
            return output + styler.styled(chunks.end()) + styler.end()
        }

        @Test(
            "Styling changes only white space",
            arguments: [
                ("{}", "{}"), ("[ ]", "[]"), ("1.50E+400", "1.50E+400"), (#""a""#, #""a""#),
                (
                    #"{"b":1,"a":[true,null],"b":1.0}"#,
                    "{\n    \"b\": 1,\n    \"a\": [\n        true,\n        null\n    ],\n    \"b\": 1.0\n}"
                ),
                (#"[{},"\"\u00e9\n",-0]"#, "[\n    {},\n    \"\\\"\\u00e9\\n\",\n    -0\n]"),
                ("[\"é😀\"]\n", "[\n    \"é😀\"\n]"),
                ("{\"a\":1}\n{\"a\":2}\n", "{\n    \"a\": 1\n}\n{\n    \"a\": 2\n}"),
            ])
        func formats(text: String, shown: String) {
            for piece in 1...8 { #expect(styled(text, piece: piece) == shown) }
            #expect(styled(shown, formats: false) == shown)
        }

        @Test("A byte order mark at the beginning is left out, and the text is styled")
        func byteOrderMark() {
            for piece in 1...4 { #expect(styled("\u{FEFF}[1]", piece: piece) == "[\n    1\n]") }
            #expect(styled("\u{FEFF}1", formats: false, colors: true) == "\u{1B}[36m1\u{1B}[0m")
            #expect(styled("\u{FEFF}") == "")
            #expect(styled("\u{FEFF}\u{FEFF}1", isProtected: false) == "\u{FEFF}1")
        }

        @Test(
            "Text is passed on without style from the first place that is not JSON",
            arguments: [
                ("<p>", "<p>"), ("[1}2", "[\n    1}2"), ("{a:1}", "{a:1}"), ("[1 2]", "[\n    12]"),
                ("{\"a\" 1}", "{\n    \"a\"1}"), ("]", "]"), ("[,]", "[,]"), ("[1\u{1B}[2J", "[\n    1\\u{1B}[2J"),
            ])
        func damaged(text: String, shown: String) {
            #expect(styled(text) == shown)
        }

        @Test("The color of every token ends with the token")
        func colors() {
            let shown = styled(#"{"k":["s",1,null]}"#, formats: false, colors: true)
            #expect(
                shown
                    == "{\u{1B}[34m\"k\"\u{1B}[0m:[\u{1B}[32m\"s\"\u{1B}[0m,"
                    + "\u{1B}[36m1\u{1B}[0m,\u{1B}[35mnull\u{1B}[0m]}")
            #expect(styled(#"["open"#, formats: false, colors: true).hasSuffix("\u{1B}[0m"))
        }

        @Test(
            "Characters that control a terminal become escapes of JSON, which mean the same",
            arguments: [
                ("\u{1B}[31m", #"\u001b[31m"#), ("\u{7F}", #"\u007f"#), ("\u{9B}2J", #"\u009b2J"#),
                ("\u{202E}x", #"\u202ex"#), ("\r", #"\u000d"#), ("\u{200D}", "\u{200D}"),
            ])
        func attacks(text: String, shown: String) {
            #expect(styled("[\"\(text)\"]", formats: false) == "[\"\(shown)\"]")
            #expect(styled("[\"\(text)\"]", formats: false, isProtected: false) == "[\"\(text)\"]")
        }

        @Test("The depth of nesting and of indentation is limited")
        func depth() {
            let text = String(repeating: "[", count: 100_000)
            let shown = styled(text, piece: 4096)
            #expect(shown.count < 300_000)
            #expect(shown.filter { $0 == "[" }.count == 100_000)
        }

        @Test("After the limit the text is passed on without style")
        func limit() {
            var styler = JSONStyler(formats: true, colors: true, isProtected: true)
            let head = styler.styled("[" + String(repeating: " ", count: JSONStyler.limit - 1))
            #expect(head == "[")
            #expect(styler.styled("1,2]") == "1,2]")
        }

        @Test(
            "Text on a terminal keeps lines and tabs, and shows every control by its number",
            arguments: [
                ("a\tb\r\nc\n", "a\tb\nc\n"), ("a\rb", #"a\u{D}b"#), ("\u{1B}]0;x\u{7}", #"\u{1B}]0;x\u{7}"#),
                ("\u{9B}1m", #"\u{9B}1m"#), ("a\r", #"a\u{D}"#), ("é😀\u{200D}", "é😀\u{200D}"), ("\u{8}", #"\u{8}"#),
            ])
        func text(text: String, shown: String) {
            for piece in 1...5 {
                var (chunks, escaper, output) = (UTF8Chunks(), TerminalText(), "")
                let bytes = Array(text.utf8)
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes {
                        output += escaper.escaped(chunks.text($0))
                    }
                }
                #expect(output + escaper.escaped(chunks.end()) + escaper.end() == shown)
            }
        }

        @Test("Bytes that are not UTF-8 become the replacement character")
        func invalid() {
            var chunks = UTF8Chunks()
            let pieces: [[UInt8]] = [[0x61, 0x9b], [0xe2, 0x82], [0x41, 0xf0]]
            let text = pieces.map { $0.withUnsafeBytes { chunks.text($0) } }
            #expect(text.joined() + chunks.end() == "a\u{FFFD}\u{FFFD}A\u{FFFD}")
        }

        @Test(
            "Colors follow the environment variables that other tools respect",
            arguments: [
                ([:], true, true), ([:], false, false), (["NO_COLOR": "1"], true, false),
                (["NO_COLOR": ""], true, true), (["CLICOLOR": "0"], true, false), (["CLICOLOR": "1"], false, false),
                (["CLICOLOR_FORCE": "1"], false, true), (["CLICOLOR_FORCE": "0"], true, true),
                (["TERM": "dumb"], true, false),
                (["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], true, false),
            ] as [([String: String], Bool, Bool)])
        func variables(variables: [String: String], isTerminal: Bool, colors: Bool) {
            #expect(JSONAppearance.wantsColor(isTerminal: isTerminal) { variables[$0] } == colors)
        }
    }
}
