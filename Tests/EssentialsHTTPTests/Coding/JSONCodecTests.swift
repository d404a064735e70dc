import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct JSONCodecTests {
    private struct Nested: Decodable {
        var notes: [CodedNote]
    }

    private let codecs = CodecRegistry.standard

    private func codecs(_ codec: JSONCodec) -> CodecRegistry {
        CodecRegistry().registering(codec, for: MediaPattern(.json))
    }

    @Test("Keys are sorted, dates are ISO 8601, and slashes are not escaped")
    func encoding() throws {
        let event = CodedEvent(zone: "é", at: Date(timeIntervalSince1970: 1_451_606_399), link: "a/b")
        let text = try codecs.text(event)
        #expect(text == #"{"at":"2015-12-31T23:59:59Z","link":"a/b","zone":"é"}"#)
        #expect(try codecs.decode(CodedEvent.self, text) == event)
        #expect(try codecs.text(["b": 1, "a": 2, "B": 3]) == #"{"B":3,"a":2,"b":1}"#)
    }

    @Test("Equal models have equal bytes, whatever the order of their sets and dictionaries is")
    func unordered() throws {
        enum Genre: String, Codable, CaseIterable { case drama, comedy, noir, western }
        struct Search: Codable, Hashable {
            var numbers: Set<Int>
            var counts: [Genre: Int]
            var groups: [String: Set<Genre>]
            var nested: Set<Set<String>>
            var begin = Date(timeIntervalSince1970: 0)
        }
        var texts: Set<String> = []
        for capacity in 1...20 {
            var counts = [Genre: Int](minimumCapacity: 8 * capacity)
            for genre in Genre.allCases.shuffled() { counts[genre] = genre.rawValue.count }
            let search = Search(
                numbers: shuffledSet([10, 9, 1], capacity), counts: counts,
                groups: ["firstGroup": shuffledSet(Genre.allCases, capacity)],
                nested: shuffledSet([shuffledSet(["b", "a"], capacity), []], capacity))
            texts.insert(try codecs.text(search))
            #expect(try codecs.decode(Search.self, codecs.text(search)) == search)
        }
        #expect(
            texts == [
                #"{"begin":"1970-01-01T00:00:00Z","counts":["noir",4,"drama",5,"comedy",6,"western",7],"#
                    + #""groups":{"firstGroup":["noir","drama","comedy","western"]},"nested":[[],["a","b"]],"#
                    + #""numbers":[1,9,10]}"#
            ])
    }

    @Test("Names of properties are converted beside sets, and the keys of dictionaries are not")
    func unorderedKeys() throws {
        struct Search: Codable {
            var firstTags: Set<String> = ["b", "a"]
            var byName: [String: Set<Int>] = ["firstName": [2, 1]]
            var byNumber: [Int: Set<Int>] = [7: [2, 1]]
        }
        let text = try codecs(JSONCodec(keys: .snakeCase)).text(Search())
        #expect(text == #"{"by_name":{"firstName":[1,2]},"by_number":{"7":[1,2]},"first_tags":["a","b"]}"#)
    }

    @Test("A value that JSON cannot represent fails with a message that names its place")
    func unencodable() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.text(["x": [1, Double.nan]]) }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("x.[1]"))
        #expect(failure.underlying is EncodingError)
    }

    @Test(
        "A date outside the range of ISO 8601 fails with encoding", arguments: [1e300, .nan, .infinity])
    func unencodableDate(seconds: Double) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.text(["at": Date(timeIntervalSince1970: seconds)])
        }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("“at”"))
    }

    @Test("A String is the unchanged text of the document in its charset")
    func documentText() throws {
        for text in [#"{"a": [1, "é"]}"#, "5", "null", #""\u00e9""#] {
            #expect(try codecs.decode(String.self, text) == text)
            #expect(try codecs.decode(String?.self, text) == text)
        }
        let latin = Data([0x22, 0xe9, 0x22])
        #expect(try codecs.decode(String.self, latin, as: "application/json; charset=iso-8859-1") == "\"é\"")
        let failure = #expect(throws: RequestFailure.self) {
            try codecs.decode(String.self, latin, as: "application/json")
        }
        #expect(failure?.reason == .decoding)
    }

    @Test("An unknown charset of JSON is ignored, because the parameter has no meaning there")
    func unknownCharset() throws {
        let type = "application/json; charset=nonsense"
        #expect(try codecs.decode([String].self, "[\"é\"]", as: type) == ["é"])
        #expect(try codecs.decode(String.self, "[\"é\"]", as: type) == "[\"é\"]")
        let utf16 = try Charset.utf16.encode("[\"é\"]")
        #expect(try codecs.decode(String.self, utf16, as: type) == "[\"é\"]")
    }

    @Test(
        "Every type whose subtype is json is JSON",
        arguments: ["application/json", "text/json", "model/json", "X/JSON"])
    func anyType(type: String) throws {
        #expect(try codecs.decode([String: Int].self, #"{"a":1}"#, as: type) == ["a": 1])
        #expect(try codecs.decode(JSONValue.self, #"{"a":1}"#, as: type + "; charset=utf-8") == ["a": 1])
        #expect(try codecs.text(["a": 1], as: MediaType(type)) == #"{"a":1}"#)
    }

    @Test("A number, a text and other single values are JSON documents of their own")
    func fragments() throws {
        #expect(try codecs.decode(Int.self, "5") == 5)
        #expect(try codecs.decode(String.self, "\"x\"") == "\"x\"")
        #expect(try codecs.decode(Int?.self, "null") == nil)
        #expect(try codecs.text("x") == "\"x\"")
    }

    @Test(
        "Malformed JSON fails with a message that names the place, and the failure keeps response and body",
        arguments: [
            ("{", "at line 1, column 2 it ends too early"), ("secret", "at line 1, column 1 a value is missing"),
            (#"{"id":1 "text":"secret"}"#, "at line 1, column 9 a comma"),
            ("{\"id\":1,", "at line 1, column 9 it ends"),
        ])
    func malformed(body: String, place: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(CodedNote.self, body) }
        #expect(failure.reason == .decoding)
        #expect(failure.phase == .decoding)
        #expect(failure.host == "h")
        #expect(failure.response?.body == Data(body.utf8))
        #expect(failure.response?.head.headerFields[.eTag] == "t")
        #expect(failure.underlying is DecodingError)
        #expect(failure.message.contains("not valid JSON, \(place)"))
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "A value that does not fit the model is named by its place and never quoted",
        arguments: [
            (#"{"notes":[{"id":1,"text":"secret"},{"id":2}]}"#, "“notes.[1].text” is missing"),
            ("{}", "“notes” is missing"), ("[1]", "the document is not of type "),
            ("5", "the document is not of type "),
            (#"{"notes":[{"id":"secret","text":"x"}]}"#, "“notes.[0].id” is not of type Int"),
            (#"{"notes":null}"#, "“notes” is null"),
            (#"{"notes":[{"id":1,"text":null,"secret":"secret"}]}"#, "“notes.[0].text” is null"),
            (#"{"notes":"secret"}"#, "“notes” is not of type "),
            (#"{"notes":[{"id":12345.6,"text":"secret"}]}"#, "an invalid date or number"),
        ])
    func misfit(body: String, place: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(Nested.self, body) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains(place))
        #expect(!failure.description.contains("secret"))
        #expect(!failure.description.contains("12345"))
        #expect(failure.response?.body == Data(body.utf8))
    }

    @Test("A date that is not ISO 8601 is named by its place and never quoted")
    func badDate() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(CodedEvent.self, #"{"zone":"z","at":"secret","link":""}"#)
        }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains("“at” is not valid"))
        #expect(!failure.description.contains("secret"))
    }

    @Test("Dates are decoded with fractions and offsets")
    func fractions() throws {
        let body = #"["2015-12-31T23:59:59.250Z","2016-01-01T00:59:59+01:00"]"#
        let dates = [Date(timeIntervalSince1970: 1_451_606_399.25), Date(timeIntervalSince1970: 1_451_606_399)]
        #expect(try codecs.decode([Date].self, body) == dates)
    }

    @Test(
        "Dates are encoded in the chosen format",
        arguments: [
            (JSONCodec.Dates.iso8601WithMilliseconds, #"["1970-01-01T00:00:01.250Z"]"#), (.secondsSince1970, "[1.25]"),
            (.millisecondsSince1970, "[1250]"),
        ])
    func dateForms(dates: JSONCodec.Dates, text: String) throws {
        let codecs = codecs(JSONCodec(dates: dates))
        #expect(try codecs.text([Date(timeIntervalSince1970: 1.25)]) == text)
        #expect(try codecs.decode([Date].self, text) == [Date(timeIntervalSince1970: 1.25)])
    }

    @Test("Names can be converted to snake case")
    func snakeCase() throws {
        struct Model: Codable, Equatable { var firstName: String }
        let codecs = codecs(JSONCodec(keys: .snakeCase))
        #expect(try codecs.text(Model(firstName: "a")) == #"{"first_name":"a"}"#)
        #expect(try codecs.decode(Model.self, #"{"first_name":"a"}"#) == Model(firstName: "a"))
    }

    @Test("Closures set further options of the coders")
    func closures() throws {
        let codecs = codecs(
            JSONCodec(
                configureEncoder: { $0.outputFormatting = [.sortedKeys, .prettyPrinted] },
                configureDecoder: {
                    $0.nonConformingFloatDecodingStrategy = .convertFromString(
                        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
                }))
        #expect(try codecs.text(["a": 1]).contains("\n"))
        #expect(try codecs.decode([Double].self, "[\"inf\"]") == [.infinity])
    }

    @Test("The codec adds charset=utf-8 unless it is present or switched off")
    func contentType() throws {
        let problem = try MediaType("application/problem+json")
        #expect(JSONCodec().contentType(for: .json).description == "application/json; charset=utf-8")
        #expect(JSONCodec().contentType(for: problem).description == "application/problem+json; charset=utf-8")
        let given = try MediaType("application/json; charset=UTF-8")
        #expect(JSONCodec().contentType(for: given).description == "application/json; charset=UTF-8")
        #expect(JSONCodec(addsCharset: false).contentType(for: .json).description == "application/json")
        #expect(JSONCodec().mergesParameters)
    }

    @Test("JSON is encoded only in UTF-8")
    func otherCharset() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.encode(["a"], as: MediaType("application/json; charset=utf-16"))
        }
        #expect(failure.reason == .encoding)
        #expect(try codecs.text(["a"], as: MediaType("application/json; charset=\"UTF-8\"")) == "[\"a\"]")
    }

    @Test("JSON in another charset is decoded if the content type names that charset")
    func transcoding() throws {
        let body = Data([0x5b, 0x22, 0xe9, 0x80, 0x22, 0x5d])
        #expect(try codecs.decode([String].self, body, as: "application/json; charset=iso-8859-1") == ["é€"])
        #expect(try codecs.decode([String].self, "[\"é\"]", as: "application/json; charset=iso-8859-1") == ["é"])
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode([String].self, body, as: "application/json")
        }
        #expect(failure.message.contains("not valid UTF-8"))
        let utf16 = try Charset.utf16LittleEndian.encode("[\"é\"]")
        #expect(try codecs.decode([String].self, utf16, as: "application/json") == ["é"])
    }

    @Test("One codec serves many concurrent tasks")
    func concurrency() async throws {
        let codec = JSONCodec(dates: .millisecondsSince1970)
        let notes = (0..<200).map { CodedNote(id: $0, text: "n\($0)") }
        let body = try codec.encode(notes, as: .json)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let read = try codec.decode([CodedNote].self, from: body, as: .json)
                    return try read == notes && codec.encode(read, as: .json) == body
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}
