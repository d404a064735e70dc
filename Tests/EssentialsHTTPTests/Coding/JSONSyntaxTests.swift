import FoundationEssentials
import Testing

@testable import EssentialsHTTP

@Suite struct JSONSyntaxTests {
    @Test(
        "The place where a text stops being JSON is named, and what is wrong there",
        arguments: [
            ("{", "at line 1, column 2 it ends too early"), ("", "at line 1, column 1 it ends too early"),
            ("[1,]", "at line 1, column 4 a value is missing"),
            ("[1 2]", "at line 1, column 4 a comma or “]” is missing"),
            ("{\"a\":1\n \"b\":2}", "at line 2, column 2 a comma or “}” is missing"),
            ("{\"a\" 1}", "at line 1, column 6 a colon is missing"),
            ("{a:1}", "at line 1, column 2 a name in quotation marks is missing"),
            ("[1]x", "at line 1, column 4 something follows the end"), ("\"a", "at line 1, column 3 a text has no end"),
            ("\"\\x\"", "at line 1, column 2 a text has an escape that JSON does not know"),
            ("\"\\u12\"", "at line 1, column 2 an escape lacks its four digits"),
            ("\"a\nb\"", "at line 1, column 3 a text has a control character"),
            ("\n\n[01]", "at line 3, column 2 a number is not written as JSON has them"),
            ("[1.]", "at line 1, column 2 a number is not written as JSON has them"),
            ("[-]", "at line 1, column 2 a value is missing"), ("tru", "at line 1, column 1 a value is missing"),
            ("<html>", "at line 1, column 1 a value is missing"),
            ("{\"a\":1,}", "at line 1, column 8 a name in quotation marks is missing"),
            (String(repeating: "[", count: 600), "at line 1, column 513 it is nested more than 512 deep"),
        ])
    func faults(text: String, fault: String) {
        #expect(JSONSyntax.fault(in: Data(text.utf8)) == fault)
    }

    @Test(
        "JSON has no fault",
        arguments: [
            "null", " [ ] ", "{}", "[[],{}]", "{\"a\":[1,-2.5e+3,0,0.1,true,false,null,\"\\u00e9\\n\\\"\"],\"b\":{}}",
            "\u{feff}5",
            "\"é\"",
        ])
    func sound(text: String) {
        #expect(JSONSyntax.fault(in: Data(text.utf8)) == nil)
    }

    @Test("Bytes that are no UTF-8 are said to be so")
    func noUTF8() {
        #expect(JSONSyntax.fault(in: Data([0x22, 0xe9, 0x22])) == "a text in it is no UTF-8")
    }

    @Test("What the decoder takes has no fault, and what it does not take has one")
    func agreement() {
        var numbers = SeededNumbers(state: 8259)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "1", "-", "0", ".5", "e1", "true", "null", " ", "\n", "\\", "\"",
        ]
        for _ in 0..<20_000 {
            let text = numbers.text(of: pieces, upTo: 7)
            let isRead = (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) != nil
            #expect((JSONSyntax.fault(in: Data(text.utf8)) == nil) == isRead, "\(text)")
        }
    }
}
