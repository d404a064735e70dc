import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct CharsetTests {
    @Test(
        "A charset label is found regardless of case, quotation marks and surrounding spaces",
        arguments: [
            ("utf-8", Charset.utf8), ("UTF8", .utf8), ("\"utf-8\"", .utf8), (" Utf-8 ", .utf8), ("utf-16", .utf16),
            ("UTF-16BE", .utf16BigEndian), ("utf-16le", .utf16LittleEndian), ("utf-32", .utf32),
            ("utf-32BE", .utf32BigEndian), ("utf-32LE", .utf32LittleEndian), ("us-ascii", .ascii), ("US", .ascii),
            ("iso-ir-6", .ascii), ("iso646-us", .ascii), ("latin1", .latin1), ("L1", .latin1), ("iso-ir-100", .latin1),
            ("ISO-8859-1", .latin1), ("iso_8859-1", .latin1), ("windows-1252", .windows1252), ("CP1252", .windows1252),
        ])
    func labels(label: String, charset: Charset) throws {
        #expect(try Charset(label) == charset)
        #expect(Charset(parsing: label) == charset)
        #expect(try Charset(charset.name) == charset)
    }

    @Test(
        "An unknown, dangerous or malformed charset label is refused",
        arguments: [
            "", "\"\"", "nonsense", "utf-7", "UTF7", "unicode-1-1-utf-7", "ISO-2022-CN-EXT", "csISO2022KR", "wchar_t",
            "internal", "utf-8//TRANSLIT", "latin1//IGNORE", "koi8-r,", "../../lib", "é", "koi8-r\u{0}",
            String(repeating: "a", count: 5000),
        ])
    func unknownLabels(label: String) throws {
        #expect(Charset(parsing: label) == nil)
        let failure = try #require(throws: RequestFailure.self) { try Charset(label) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "Text is encoded in the charset and decoded again",
        arguments: [
            (Charset.utf8, "aé€😀", [0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80]),
            (.ascii, "a~", [0x61, 0x7e]), (.latin1, "aéÿ", [0x61, 0xe9, 0xff]),
            (.windows1252, "a€’", [0x61, 0x80, 0x92]),
            (.utf16, "a😀", [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde]),
            (.utf16BigEndian, "a€", [0, 0x61, 0x20, 0xac]), (.utf16LittleEndian, "a€", [0x61, 0, 0xac, 0x20]),
            (.utf32, "a", [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), (.utf32BigEndian, "😀", [0, 1, 0xf6, 0]),
            (.utf32LittleEndian, "😀", [0, 0xf6, 1, 0]), (.utf8, "", []), (.utf16BigEndian, "", []),
        ] as [(Charset, String, [UInt8])])
    func roundTrip(charset: Charset, text: String, bytes: [UInt8]) throws {
        #expect(try Array(charset.encode(text)) == bytes)
        #expect(try charset.decode(Data(bytes)) == text)
    }

    @Test(
        "Other charsets are provided by iconv",
        arguments: [
            ("koi8-r", "Привет", [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]), ("windows-1251", "Да", [0xc4, 0xe0]),
            ("Shift_JIS", "日本", [0x93, 0xfa, 0x96, 0x7b]), ("euc-jp", "日本", [0xc6, 0xfc, 0xcb, 0xdc]),
            ("gb2312", "中文", [0xd6, 0xd0, 0xce, 0xc4]), ("big5", "中文", [0xa4, 0xa4, 0xa4, 0xe5]),
            ("euc-kr", "한국", [0xc7, 0xd1, 0xb1, 0xb9]), ("iso-8859-2", "ž", [0xbe]), ("iso-8859-15", "€", [0xa4]),
            ("iso-2022-jp", "日", [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42]), ("koi8-r", "", []),
        ] as [(String, String, [UInt8])])
    func system(label: String, text: String, bytes: [UInt8]) throws {
        let charset = try Charset(label)
        #expect(charset.name == label.lowercased())
        #expect(try Array(charset.encode(text)) == bytes)
        #expect(try charset.decode(Data(bytes)) == text)
    }

    @Test("A long text is converted in chunks, also if a character spans two of them")
    func longTexts() throws {
        let charset = try Charset("shift_jis")
        for count in [5460, 5461, 5462, 16_383, 16_384, 16_385, 40_000] {
            let text = String(repeating: "日", count: count) + "a"
            let bytes = try charset.encode(text)
            #expect(bytes.count == count * 2 + 1)
            #expect(try charset.decode(bytes) == text)
            #expect(try charset.decode(Data("a".utf8) + bytes) == "a" + text)
        }
    }

    @Test("Bytes labelled ISO 8859-1 are decoded as windows-1252 and encoded as ISO 8859-1")
    func latin1() throws {
        #expect(try Charset.latin1.decode(Data([0x80, 0x93, 0xe9, 0x81])) == "€“é\u{81}")
        let failure = try #require(throws: RequestFailure.self) { try Charset.latin1.encode("€") }
        #expect(failure.reason == .encoding)
    }

    @Test(
        "Encoding a character that the charset cannot represent fails and never substitutes it",
        arguments: ["us-ascii", "latin1", "windows-1252", "koi8-r", "shift_jis", "big5"])
    func unrepresentable(label: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try Charset(label).encode("secret 😀") }
        #expect(failure.reason == .encoding)
        #expect(try failure.message.contains(Charset(label).name))
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "Invalid bytes fail with decoding, or become U+FFFD if decoding is lenient",
        arguments: [
            (Charset.utf8, [0x61, 0xff, 0x62], "a\u{fffd}b"), (.ascii, [0x61, 0x80], "a\u{fffd}"),
            (.utf16BigEndian, [0, 0x61, 0xd8, 0], "a\u{fffd}"), (.utf16BigEndian, [0, 0x61, 0], "a\u{fffd}"),
            (.utf32BigEndian, [0, 0x11, 0, 0], "\u{fffd}"), (.utf32BigEndian, [0, 0, 0xd8, 0], "\u{fffd}"),
            (.utf32BigEndian, [0, 0, 0, 0x61, 0], "a\u{fffd}"),
        ] as [(Charset, [UInt8], String)])
    func malformed(charset: Charset, bytes: [UInt8], text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try charset.decode(Data(bytes)) }
        #expect(failure.reason == .decoding)
        #expect(failure.phase == .decoding)
        #expect(try charset.decode(Data(bytes), isLenient: true) == text)
    }

    @Test(
        "Invalid bytes in a charset of iconv fail with decoding, or become U+FFFD if decoding is lenient",
        arguments: [
            ("euc-jp", [0x61, 0xff, 0x62], "a\u{fffd}b"), ("shift_jis", [0x61, 0x93], "a\u{fffd}"),
            ("euc-kr", [0xff], "\u{fffd}"), ("gb18030", [0x61, 0x81, 0x30], "a\u{fffd}"),
        ] as [(String, [UInt8], String)])
    func malformedForSystem(label: String, bytes: [UInt8], text: String) throws {
        let charset = try Charset(label)
        #expect(throws: RequestFailure.self) { try charset.decode(Data(bytes)) }
        #expect(try charset.decode(Data(bytes), isLenient: true) == text)
    }

    @Test(
        "A byte order mark indicates the charset and is removed from the text",
        arguments: [
            ([0xef, 0xbb, 0xbf, 0x61], Charset.utf8), ([0xfe, 0xff, 0, 0x61], .utf16BigEndian),
            ([0xff, 0xfe, 0x61, 0], .utf16LittleEndian), ([0, 0, 0xfe, 0xff, 0, 0, 0, 0x61], .utf32BigEndian),
            ([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0], .utf32LittleEndian),
        ] as [([UInt8], Charset)])
    func byteOrderMark(bytes: [UInt8], charset: Charset) throws {
        #expect(Charset(byteOrderMarkOf: Data(bytes)) == charset)
        #expect(try charset.decode(Data(bytes)) == "a")
        if charset != .utf8 {
            let general: Charset = charset == .utf16BigEndian || charset == .utf16LittleEndian ? .utf16 : .utf32
            #expect(try general.decode(Data(bytes)) == "a")
        }
        #expect(Charset(byteOrderMarkOf: Data([0x61])) == nil)
        #expect(Charset(byteOrderMarkOf: Data()) == nil)
    }

    @Test("UTF-16 and UTF-32 without a byte order mark are decoded as big-endian")
    func withoutByteOrderMark() throws {
        #expect(try Charset.utf16.decode(Data([0, 0x61, 0x20, 0xac])) == "a€")
        #expect(try Charset.utf32.decode(Data([0, 0, 0, 0x61])) == "a")
    }

    @Test("A slice of data is decoded from its start index")
    func slices() throws {
        let whole = Data([0x78, 0x78, 0xef, 0xbb, 0xbf, 0xc3, 0xa9])
        #expect(try Charset.utf8.decode(whole[2...]) == "é")
        #expect(try Charset.utf16BigEndian.decode(Data([1, 0, 0x61])[1...]) == "a")
        #expect(try Charset("koi8-r").decode(Data([0x61, 0xf0])[1...]) == "П")
    }

    @Test("Lenient decoding accepts any bytes in any charset, and strict decoding equals it or fails")
    func random() throws {
        var numbers = SeededNumbers(state: 1252)
        let labels = [
            "utf-8", "utf-16", "utf-32", "latin1", "shift_jis", "euc-jp", "gb18030", "big5", "iso-2022-jp", "euc-kr",
        ]
        for label in labels {
            let charset = try Charset(label)
            for _ in 0..<300 {
                let bytes = Data(
                    (0..<Int.random(in: 0...40, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers)
                    })
                let lenient = try charset.decode(bytes, isLenient: true)
                if let strict = try? charset.decode(bytes) { #expect(strict == lenient) }
                #expect(lenient.utf8.count <= bytes.count * 16 + 64)
            }
        }
    }
}
