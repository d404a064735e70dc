import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite struct JSONCodingTests {
    private struct Event: Codable, Equatable {
        var zone: String
        var at: Date
        var link: String
    }

    private struct Nested: Decodable {
        var notes: [Note]
    }

    private func response(_ body: String, status: Int = 200) -> TransportResponse {
        TransportResponse(
            HTTPResponse(status: .init(code: status), headerFields: [.eTag: "t"]), body: ResponseBody(Data(body.utf8)))
    }

    private func decode<Model: Decodable>(_ type: Model.Type, _ body: String) throws(RequestFailure) -> Model {
        try JSONCoding.decode(type, from: response(body), host: "h")
    }

    @Test("Keys are sorted, dates are ISO 8601, slashes stay")
    func encoding() throws {
        let event = Event(zone: "é", at: Date(timeIntervalSince1970: 1_451_606_399), link: "a/b")
        let data = try JSONCoding.encode(event)
        #expect(String(decoding: data, as: UTF8.self) == #"{"at":"2015-12-31T23:59:59Z","link":"a/b","zone":"é"}"#)
        #expect(try decode(Event.self, String(decoding: data, as: UTF8.self)) == event)
        #expect(try JSONCoding.encode(["b": 1, "a": 2, "B": 3]) == Data(#"{"B":3,"a":2,"b":1}"#.utf8))
    }

    @Test("A value without a JSON form is the failure encoding and names its place")
    func unencodable() throws {
        let failure = try #require(throws: RequestFailure.self) { try JSONCoding.encode(["x": [1, Double.nan]]) }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("x.[1]"))
        #expect(failure.underlying is EncodingError)
    }

    @Test("Fragments are documents")
    func fragments() throws {
        #expect(try decode(Int.self, "5") == 5)
        #expect(try decode(String.self, "\"x\"") == "x")
        #expect(try decode(Int?.self, "null") == nil)
        #expect(try JSONCoding.encode("x") == Data("\"x\"".utf8))
    }

    @Test(
        "Malformed JSON is the failure decoding, which keeps response and body",
        arguments: ["{", "secret", #"{"id":1 "text":"secret"}"#, "{\"id\":1,"])
    func malformed(body: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try decode(Note.self, body) }
        #expect(failure.reason == .decoding)
        #expect(failure.phase == .decoding)
        #expect(failure.host == "h")
        #expect(failure.response?.body == Data(body.utf8))
        #expect(failure.response?.head.headerFields[.eTag] == "t")
        #expect(failure.underlying is DecodingError)
        #expect(failure.message.contains("no valid JSON"))
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "What does not fit is named by its place and never quoted",
        arguments: [
            (#"{"notes":[{"id":1,"text":"secret"},{"id":2}]}"#, "“notes.[1].text” is missing"),
            ("{}", "“notes” is missing"), ("[1]", "the document is no "), ("5", "the document is no "),
            (#"{"notes":[{"id":"secret","text":"x"}]}"#, "“notes.[0].id” is no Int"),
            (#"{"notes":null}"#, "“notes” is null"),
            (#"{"notes":[{"id":1,"text":null,"secret":"secret"}]}"#, "“notes.[0].text” is null"),
            (#"{"notes":"secret"}"#, "“notes” is no "),
            (#"{"notes":[{"id":12345.6,"text":"secret"}]}"#, "a date or number that is not valid"),
        ])
    func misfit(body: String, place: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try decode(Nested.self, body) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains(place))
        #expect(!failure.description.contains("secret"))
        #expect(!failure.description.contains("12345"))
        #expect(failure.response?.body == Data(body.utf8))
    }

    @Test("A date in another form than ISO 8601 is said to be not valid, and not quoted")
    func badDate() throws {
        let body = #"{"zone":"z","at":"secret","link":""}"#
        let failure = try #require(throws: RequestFailure.self) { try decode(Event.self, body) }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains("a date or number that is not valid"))
        #expect(!failure.description.contains("secret"))
    }

    @Test("An empty body is the failure emptyBody, whatever the status", arguments: [200, 201, 204])
    func emptyBody(status: Int) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try JSONCoding.decode(Note.self, from: response("", status: status), host: nil)
        }
        #expect(failure.reason == .emptyBody)
        #expect(failure.message.contains("\(status)"))
        #expect(failure.message.contains("Note"))
        #expect(failure.response?.body == Data())
        #expect(failure.response?.head.status.code == status)
    }

    @Test("An empty body is nil for an optional model, and a whole one is the model")
    func optionalModel() throws {
        #expect(try JSONCoding.decode(Note?.self, from: response("", status: 204), host: nil) == nil)
        #expect(try decode(Note?.self, #"{"id":1,"text":"a"}"#) == Note(id: 1, text: "a"))
    }
}
