import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct FormCodecTests {
    private enum Kind: String, Codable { case one, two }

    private struct Fields: Codable, Equatable {
        var text: String
        var count: Int
        var small: UInt8
        var ratio: Double
        var single: Float
        var isOpen: Bool
        var at: Date
        var token: Data
        var link: URL
        var price: Decimal
        var kind: Kind
        var tags: [String]
        var numbers: [Int]
        var id: UUID
        var missing: String?
        var bare: Int?
    }

    private let codecs = CodecRegistry.standard
    private let form = "application/x-www-form-urlencoded"

    private let body = """
        text=a+b%26&count=-7&small=255&ratio=0.5&single=0.1&isOpen=true&at=1970-01-01T00%3A00%3A01Z&token=-_8&\
        link=https%3A%2F%2Fh%2Fa&price=19.99&kind=two&tags[]=x&tags[]=y&numbers=1&numbers=2&\
        id=00000000-0000-0000-0000-000000000001&bare&unknown=1
        """

    @Test("A form response is decoded as a model with flat fields")
    func reading() throws {
        let fields = try codecs.decode(Fields.self, body, as: form)
        #expect(
            try fields
                == Fields(
                    text: "a b&", count: -7, small: 255, ratio: 0.5, single: 0.1, isOpen: true,
                    at: Date(timeIntervalSince1970: 1), token: Data([0xfb, 0xff]),
                    link: #require(URL(string: "https://h/a")), price: #require(Decimal(string: "19.99")), kind: .two,
                    tags: ["x", "y"], numbers: [1, 2],
                    id: #require(UUID(uuidString: "00000000-0000-0000-0000-000000000001")), missing: nil, bare: nil))
        #expect(try codecs.decode(Fields?.self, body, as: form) == fields)
        #expect(try codecs.decode(Fields.self, codecs.text(fields, as: .form), as: form) == fields)
    }

    @Test("A form response is decoded as items, as a dictionary and as parameters")
    func readingItems() throws {
        let items: QueryItems = ["b": "2", "a": "1 x", "b": nil]
        #expect(try codecs.decode(QueryItems.self, "b=2&a=1+x&b", as: form) == items)
        #expect(try codecs.decode(QueryItems?.self, "b=2&a=1+x&b", as: form) == items)
        #expect(try codecs.decode([String: String].self, "b=2&a=1", as: form) == ["a": "1", "b": "2"])
        #expect(try codecs.decode([String: [Int]].self, "b=2&a=1&b=3", as: form) == ["a": [1], "b": [2, 3]])
        #expect(try codecs.decode(FormParameters.self, "b=2&a=1&b=3", as: form) == ["a": "1", "b": ["2", "3"]])
        #expect(try codecs.decode(JSONValue.self, "a=1&b", as: form) == ["a": "1", "b": nil])
    }

    @Test("The response's charset is applied to the percent-decoded bytes")
    func charset() throws {
        #expect(try codecs.decode([String: String].self, "a=%E9", as: form + "; charset=latin1") == ["a": "é"])
        #expect(try codecs.decode([String: String].self, "a=%C3%A9", as: form + "; charset=\"\"") == ["a": "é"])
        #expect(try codecs.decode([String: String].self, "a=%C3%A9", as: form) == ["a": "é"])
    }

    @Test("A form in an unknown charset fails with decoding, and the failure names the charset and what to try")
    func unknownCharset() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode([String: String].self, "a=secret", as: form + "; charset=nonsense")
        }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains("“nonsense”"))
        #expect(failure.remedy?.contains("QueryItems(form:charset:)") == true)
        #expect(!failure.description.contains("secret"))
        #expect(failure.response?.body == Data("a=secret".utf8))
    }

    @Test(
        "A decoding failure names the field and never quotes its value",
        arguments: [
            ("id=secret&text=a", "“id” is not of type Int"), ("text=secret", "“id” is missing"),
            ("id&text=a", "“id” is null"),
            ("id=1&id=2&text=a", "“id” is not of type Int"), ("id=1.5&text=secret", "“id” is not of type Int"),
            ("id=99999999999999999999&text=secret", "“id” is not of type Int"),
        ])
    func misfits(body: String, place: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(CodedNote.self, body, as: form) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains(place))
        #expect(!failure.description.contains("secret"))
        #expect(failure.response?.body == Data(body.utf8))
    }

    @Test("A nested structure, a nested array and a form as one value fail to decode")
    func flatOnly() throws {
        struct Outer: Decodable { var note: CodedNote }
        #expect(throws: RequestFailure.self) { try codecs.decode(Outer.self, "note=1", as: form) }
        #expect(throws: RequestFailure.self) { try codecs.decode([String: [[Int]]].self, "a=1", as: form) }
        #expect(throws: RequestFailure.self) { try codecs.decode(Int.self, "a=1", as: form) }
        #expect(throws: RequestFailure.self) { try codecs.decode([Int].self, "a=1", as: form) }
        #expect(throws: RequestFailure.self) { try codecs.decode(String.self, "a=1", as: form) }
    }

    @Test("Elements that cannot be decoded can be skipped")
    func lossy() throws {
        let values = try codecs.decode([String: LossyArray<Int>].self, "a=1&a=x&a&a=2", as: form)
        #expect(values == ["a": LossyArray([1, 2], skippedCount: 2)])
    }

    @Test("Dates are decoded in the format that encodes them")
    func dates() throws {
        let codecs = CodecRegistry().registering(FormCodec(encoding: FormEncoding(dates: .milliseconds)), for: .any)
        let dates = ["d": Date(timeIntervalSince1970: 1.25)]
        #expect(try codecs.text(dates, as: .form) == "d=1250")
        #expect(try codecs.decode([String: Date].self, "d=1250", as: form) == dates)
        #expect(throws: RequestFailure.self) { try codecs.decode([String: Date].self, "d=nan", as: form) }
    }

    @Test("Parameters, items and models are encoded as forms")
    func writing() throws {
        #expect(try codecs.text(FormParameters(["b": [1, 2], "a": "x y"]), as: .form) == "a=x%20y&b[]=1&b[]=2")
        #expect(try codecs.text(QueryItems(parsing: "b=2&a=1"), as: .form) == "b=2&a=1")
        #expect(try codecs.text(CodedNote(id: 1, text: "é"), as: .form) == "id=1&text=%C3%A9")
        let latin1 = try MediaType(form + "; charset=latin1")
        #expect(try codecs.text(CodedNote(id: 1, text: "é"), as: latin1) == "id=1&text=%E9")
    }

    @Test("A model without names and an unknown charset fail with encoding")
    func unwritable() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.text([1, 2], as: .form) }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("no names"))
        for charset in ["nonsense", "utf-16"] {
            let type = try MediaType(form + "; charset=" + charset)
            let failure = try #require(throws: RequestFailure.self) { try codecs.text(["a": 1], as: type) }
            #expect(failure.reason == .encoding)
        }
        let type = try MediaType(form + "; charset=latin1")
        #expect(throws: RequestFailure.self) { try codecs.text(QueryItems(parsing: "a"), as: type) }
    }

    @Test("The codec adds charset=utf-8 unless the type has a charset")
    func contentType() throws {
        #expect(try codecs.encode(["a": 1], as: .form).contentType.description == form + "; charset=utf-8")
        let latin1 = try MediaType(form + "; charset=latin1")
        #expect(try codecs.encode(["a": 1], as: latin1).contentType == latin1)
        #expect(FormCodec().mergesParameters)
    }

    @Test("A form with more items than the codec's maximum fails with tooLarge")
    func maximum() throws {
        let codecs = CodecRegistry().registering(FormCodec(maximumItems: 2), for: .any)
        #expect(try codecs.decode(QueryItems.self, "a&b", as: form).items.count == 2)
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(QueryItems.self, "a&b&c", as: form)
        }
        #expect(failure.reason == .tooLarge)
        #expect(failure.response?.body == Data("a&b&c".utf8))
    }
}
