import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct TextCodecTests {
    private let codecs = CodecRegistry.standard

    @Test(
        "A response is decoded in its charset, that of its byte order mark, or UTF-8",
        arguments: [
            ("text/plain; charset=utf-8", [0xc3, 0xa9], "é"), ("text/plain; charset=ISO-8859-1", [0xe9, 0x93], "é“"),
            ("text/html; charset=\"koi8-r\"", [0xf0], "П"), ("text/plain; charset=utf-16le", [0xe9, 0], "é"),
            ("text/plain", [0xff, 0xfe, 0xe9, 0], "é"), ("text/plain", [0xef, 0xbb, 0xbf, 0x61], "a"),
            ("text/plain", [0xc3, 0xa9], "é"), ("text/plain; charset=\"\"", [0xc3, 0xa9], "é"),
            ("text/plain; charset=", [0xc3, 0xa9], "é"),
            ("text/plain; charset=utf-8", [0xef, 0xbb, 0xbf, 0x61], "a"), ("application/xml", [0x3c], "<"),
            ("image/svg+xml", [0x3c], "<"),
        ] as [(String, [UInt8], String)])
    func reading(contentType: String, bytes: [UInt8], text: String) throws {
        #expect(try codecs.decode(String.self, Data(bytes), as: contentType) == text)
        #expect(try codecs.decode(String?.self, Data(bytes), as: contentType) == text)
    }

    @Test(
        "A response in an unknown charset fails with decoding, and the failure names the charset and what to try",
        arguments: [
            ("text/plain; charset=nonsense", "nonsense"), ("text/html; charset=\"UTF-7\"", "UTF-7"),
            ("application/xml; charset=utf8mb4", "utf8mb4"), ("image/svg+xml; charset=\"a b\"", "a b"),
        ])
    func unknown(contentType: String, label: String) throws {
        let bytes = Data("<secret/>".utf8)
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(String.self, bytes, as: contentType)
        }
        #expect(failure.reason == .decoding)
        #expect(failure.phase == .decoding)
        #expect(failure.message.contains("“\(label)”"))
        #expect(failure.remedy?.contains("TextCodec(isLenient: true)") == true)
        #expect(!failure.description.contains("secret"))
        #expect(failure.response?.body == bytes)
        #expect(throws: RequestFailure.self) { try codecs.decode(String?.self, bytes, as: contentType) }
        // What the failure recommends works.
        #expect(try codecs.decode(Data.self, bytes, as: contentType) == bytes)
        let lenient = codecs.registering(TextCodec(isLenient: true), for: MediaPattern(try MediaType(contentType)))
        #expect(try lenient.decode(String.self, bytes, as: contentType) == "<secret/>")
    }

    @Test(
        "The byte order mark of a response in an unknown charset indicates its charset",
        arguments: [[0xfe, 0xff, 0, 0xe9], [0xff, 0xfe, 0xe9, 0], [0xef, 0xbb, 0xbf, 0xc3, 0xa9]] as [[UInt8]])
    func unknownWithMark(bytes: [UInt8]) throws {
        #expect(try codecs.decode(String.self, Data(bytes), as: "text/plain; charset=nonsense") == "é")
    }

    @Test("Invalid bytes fail with decoding, or become U+FFFD with a lenient codec")
    func lenience() throws {
        let bytes = Data([0x61, 0xff])
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(String.self, bytes, as: "text/plain; charset=utf-8")
        }
        #expect(failure.reason == .decoding)
        #expect(failure.response?.body == bytes)
        #expect(failure.host == "h")
        let lenient = codecs.registering(TextCodec(isLenient: true), for: try MediaPattern("text/*"))
        #expect(try lenient.decode(String.self, bytes, as: "text/plain") == "a\u{fffd}")
    }

    @Test("Only a String is encoded and decoded as text")
    func onlyStrings() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.encode(7, as: .text) }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("text/plain") && failure.message.contains("Int"))
        let other = try #require(throws: RequestFailure.self) {
            try codecs.decode(CodedNote.self, #"{"id":1,"text":"a"}"#, as: "text/plain")
        }
        #expect(other.reason == .decoding)
        #expect(other.message.contains("text/plain") && other.message.contains("CodedNote"))
        #expect(try codecs.text("bc", as: .text) == "bc")
    }

    @Test("A request's text is encoded in the type's charset")
    func writing() throws {
        #expect(try Array(codecs.encode("é", as: MediaType("text/plain; charset=latin1")).body) == [0xe9])
        #expect(try Array(codecs.encode("é", as: .html).body) == [0xc3, 0xa9])
        #expect(try Array(codecs.encode("é", as: MediaType("text/plain; charset=utf-16be")).body) == [0, 0xe9])
    }

    @Test(
        "An unknown charset and a text that it cannot represent fail with encoding",
        arguments: ["nonsense", "us-ascii"])
    func unwritable(charset: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.encode("sécret", as: MediaType("text/plain; charset=\(charset)"))
        }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains(charset))
        #expect(!failure.description.contains("cret"))
    }

    @Test("The codec adds charset=utf-8 only to text types without a charset")
    func contentType() throws {
        #expect(try codecs.encode("a", as: .text).contentType.description == "text/plain; charset=utf-8")
        let latin1 = try MediaType("text/plain; charset=latin1")
        #expect(try codecs.encode("a", as: latin1).contentType.description == "text/plain; charset=latin1")
        #expect(try codecs.encode("a", as: MediaType("application/xml")).contentType.description == "application/xml")
        #expect(!TextCodec().mergesParameters)
    }
}
