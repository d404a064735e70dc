import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct JSONParserTests {
    @Test(
        "A syntax error is reported with its place and cause",
        arguments: [
            ("{", "at line 1, column 2 it ends too early"), ("", "at line 1, column 1 it ends too early"),
            ("[1,]", "at line 1, column 4 a value is missing"),
            ("[1 2]", "at line 1, column 4 a comma or “]” is missing"),
            ("{\"a\":1\n \"b\":2}", "at line 2, column 2 a comma or “}” is missing"),
            ("{\"a\" 1}", "at line 1, column 6 a colon is missing"),
            ("{a:1}", "at line 1, column 2 a name in quotation marks is missing"),
            ("[1]x", "at line 1, column 4 something follows the end"),
            ("\"a", "at line 1, column 3 a string has no end"),
            ("\"\\x\"", "at line 1, column 2 a string contains an invalid escape"),
            ("\"\\u12\"", "at line 1, column 2 an escape needs four hexadecimal digits"),
            ("\"a\nb\"", "at line 1, column 3 a string contains a control character"),
            ("\n\n[01]", "at line 3, column 2 a number is malformed"),
            ("[1.]", "at line 1, column 2 a number is malformed"),
            ("[-]", "at line 1, column 2 a value is missing"), ("tru", "at line 1, column 1 a value is missing"),
            ("<html>", "at line 1, column 1 a value is missing"),
            ("{\"a\":1,}", "at line 1, column 8 a name in quotation marks is missing"),
            (String(repeating: "[", count: 600), "at line 1, column 513 it is nested more than 512 levels deep"),
        ])
    func faults(text: String, fault: String) {
        #expect(JSONParser.fault(in: Data(text.utf8)) == fault)
    }

    @Test(
        "Valid JSON has no fault",
        arguments: [
            "null", " [ ] ", "{}", "[[],{}]", "{\"a\":[1,-2.5e+3,0,0.1,true,false,null,\"\\u00e9\\n\\\"\"],\"b\":{}}",
            "\u{feff}5",
            "\"é\"",
        ])
    func sound(text: String) {
        #expect(JSONParser.fault(in: Data(text.utf8)) == nil)
    }

    @Test(
        "The fault for invalid UTF-8 names the offset of the first invalid byte",
        arguments: [
            ([0x22, 0xe9, 0x22], 1), ([0x22, 0x61, 0xc3, 0xa9, 0x80, 0x22], 4), ([0x22, 0xe2, 0x82, 0x22], 1),
            ([0x22, 0x5c, 0x6e, 0x61, 0xef, 0x22], 4), ([0x22, 0xed, 0xa0, 0x80, 0x22], 1),
            ([0xef, 0xbb, 0xbf, 0x22, 0xff, 0x22], 4),
        ] as [([UInt8], Int)])
    func noUTF8(bytes: [UInt8], offset: Int) {
        let fault = JSONParser.fault(in: Data(bytes))
        #expect(fault == "at line 1, column \(offset + 1) a string is not valid UTF-8 at the byte offset \(offset)")
    }

    @Test(
        "Half of a surrogate pair is a fault",
        arguments: [#""\ud800""#, #""\udc00x""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\ud83d""#])
    func surrogates(text: String) {
        #expect(JSONParser.fault(in: Data(text.utf8)) == "at line 1, column 2 an escape is half of a surrogate pair")
    }

    @Test(
        "Escapes become the characters that they represent",
        arguments: [
            (#""\ud83d\ude00""#, "\u{1f600}"), (#""a\u0000\u00e9\"\\\/\b\f\n\r\t""#, "a\0é\"\\/\u{8}\u{c}\n\r\t"),
            (#""e\u0301é""#, "e\u{301}é"), ("\"\"", ""), (#""é\u0041""#, "éA"),
        ])
    func escapes(text: String, string: String) throws {
        let value = try JSONParser.value(in: Data(text.utf8))
        #expect(value.string?.unicodeScalars.elementsEqual(string.unicodeScalars) == true)
    }

    @Test(
        "Numbers are parsed as Foundation's decoder parses them",
        arguments: [
            "-0", "0.0", "-0.0", "1E2", "1e18", "1e19", "9223372036854775808.0", "9223372036854775807.0",
            "9007199254740993.0", "-9223372036854775809", "18446744073709551616", "123456789012345678901234567890",
            "0e5", "1e-400", "5e-324", "1.7976931348623157e308", "0.1", "-2.5e-3",
        ])
    func numbers(text: String) throws {
        let expected = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(try JSONParser.value(in: Data(text.utf8)) == expected)
    }

    @Test("A number that no type can represent is a fault")
    func hugeNumbers() {
        let fault = JSONParser.fault(in: Data("[1e400]".utf8))
        #expect(fault == "at line 1, column 2 a number is too large")
    }

    @Test("A long name of combining marks is refused without quadratic time")
    func enormousNames() throws {
        func object(_ name: String) -> Data { Data("{\"\(name)\":1}".utf8) }
        let marks = String(repeating: "\u{301}\u{323}", count: 128 << 10)
        let time = ContinuousClock().measure {
            let fault = JSONParser.fault(in: object("a" + marks))
            #expect(fault == "at line 1, column 2 a name outside ASCII has more than 4096 bytes")
        }
        #expect(time < .seconds(2))
        let ascii = String(repeating: "a", count: 8 << 10)
        #expect(try JSONParser.value(in: object(ascii))[ascii] == 1)
        let accented = String(repeating: "é", count: 2 << 10)
        #expect(try JSONParser.value(in: object(accented))[accented] == 1)
    }

    @Test("The first of equal names in an object is used, as in Foundation's decoder")
    func duplicates() throws {
        let body = Data(#"{"a":1,"b":2,"a":3}"#.utf8)
        #expect(try JSONParser.value(in: body) == ["a": 1, "b": 2])
        #expect(try JSONDecoder().decode(JSONValue.self, from: body) == ["a": 1, "b": 2])
    }

    @Test(
        "A document in UTF-16 or UTF-32 is parsed with and without a byte order mark",
        arguments: [
            Charset.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian,
        ])
    func otherCharsets(charset: Charset) throws {
        for text in ["{\"a\":\"é\"}", "5", "[1]"] {
            let body = try charset.encode(text)
            #expect(try JSONParser.value(in: body) == JSONParser.value(in: Data(text.utf8)), "\(text)")
        }
    }

    @Test("A document has a fault exactly if Foundation's decoder refuses it")
    func agreement() throws {
        var numbers = SeededNumbers(state: 8259)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "1", "-", "0", ".5", "e1", "true", "null", " ", "\n", "\\", "\"",
        ]
        for _ in 0..<20_000 {
            let text = numbers.text(of: pieces, upTo: 7)
            let isRead = (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) != nil
            #expect((JSONParser.fault(in: Data(text.utf8)) == nil) == isRead, "\(text)")
            if isRead {
                let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
                #expect(try JSONParser.value(in: Data(text.utf8)) == value, "\(text)")
            }
        }
    }
}
