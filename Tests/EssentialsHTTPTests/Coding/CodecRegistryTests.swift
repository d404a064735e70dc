import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct CodecRegistryTests {
    /// Encodes its own name, so that a test can tell which codec was used.
    private struct NamedCodec: BodyCodec {
        let name: String

        func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data { Data(name.utf8) }

        func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model {
            throw RequestFailure(.tooLarge, name, remedy: "remedy of \(mediaType)")
        }
    }

    private let codecs = CodecRegistry.standard

    @Test(
        "The most specific pattern determines the codec",
        arguments: [
            ("application/problem+json", "exact"), ("text/problem+json", "subtype"),
            ("application/x+json", "type and suffix"), ("text/x+json", "suffix"),
            ("application/json", "type"), ("application/pdf", "type"), ("image/png", "any"),
            ("APPLICATION/Problem+JSON; charset=utf-8", "exact"),
        ])
    func lookup(type: String, name: String) throws {
        let codecs = try [
            ("application/problem+json", "exact"), ("*/problem+json", "subtype"),
            ("application/*+json", "type and suffix"), ("*/*+json", "suffix"), ("application/*", "type"),
            ("*/*", "any"),
        ].shuffled().reduce(CodecRegistry()) { codecs, entry in
            try codecs.registering(NamedCodec(name: entry.1), for: MediaPattern(entry.0))
        }
        #expect(try codecs.text(1, as: MediaType(type)) == name)
        #expect(codecs.patterns.first?.description == "application/problem+json")
    }

    @Test("A later registration for a pattern replaces the earlier one")
    func replacing() throws {
        var codecs = CodecRegistry.standard
        codecs.register(NamedCodec(name: "one"), for: MediaPattern(.json))
        codecs.register(NamedCodec(name: "two"), for: try MediaPattern("Application/JSON"))
        #expect(try codecs.text(1) == "two")
        #expect(try CodecRegistry.standard.text(1) == "1")
    }

    @Test(
        "The standard registry has codecs for the documented types and suffixes",
        arguments: [
            ("application/json", true), ("Application/JSON", true), ("application/json ;charset=utf-8", true),
            ("application/problem+json", true), ("text/json", true), ("model/json", true), ("text/plain", true),
            ("text/html", true),
            ("text/csv", true), ("application/xml", true), ("application/atom+xml", true),
            ("application/x-www-form-urlencoded", true), ("application/octet-stream", true), ("image/png", false),
            ("application/yaml", false),
        ])
    func standard(type: String, isKnown: Bool) throws {
        #expect(try (codecs.codec(for: MediaType(type)) != nil) == isKnown)
    }

    @Test("Registering a codec keeps the other codecs")
    func adding() throws {
        let codecs = codecs.registering(NamedCodec(name: "yaml"), for: try MediaPattern("application/yaml"))
        #expect(try codecs.text(1, as: MediaType("application/yaml")) == "yaml")
        #expect(try codecs.text(1) == "1")
    }

    @Test("Encoding as a type without a codec fails with a message that lists the registered patterns")
    func unknownRequestType() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.encode(7, as: MediaType("a/b; c=d")) }
        #expect(failure.reason == .encoding)
        #expect(failure.message.contains("a/b"))
        #expect(failure.message.contains("application/json") && failure.message.contains("*/*+json"))
        let empty = try #require(throws: RequestFailure.self) { try CodecRegistry().encode(7, as: .json) }
        #expect(empty.message.contains("registered for: none"))
    }

    @Test("Decoding a type without a codec fails with a message that names it, and the failure keeps the body")
    func unknownResponseType() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(CodedNote.self, "secret", as: "application/x-secret-free")
        }
        #expect(failure.reason == .decoding)
        #expect(failure.message.contains("application/x-secret-free") && failure.message.contains("CodedNote"))
        #expect(failure.response?.body == Data("secret".utf8))
        #expect(failure.phase == .decoding)
    }

    @Test(
        "Raw bytes are sent unchanged with exactly the given type",
        arguments: ["application/json", "text/plain", "image/png", "application/octet-stream", "a/b; c=d"])
    func rawRequest(type: String) throws {
        let type = try MediaType(type)
        for (body, contentType) in try [
            codecs.encode(Data([0, 1]), as: type), codecs.encode([UInt8]([0, 1]), as: type),
        ] {
            #expect(body == Data([0, 1]))
            #expect(contentType.description == type.description)
        }
    }

    @Test(
        "Raw bytes are returned unchanged for every content type",
        arguments: ["application/json", "text/plain; charset=latin1", "image/png", "nonsense", nil])
    func rawResponse(contentType: String?) throws {
        let body = Data([0xff, 0])
        #expect(try codecs.decode(Data.self, body, as: contentType) == body)
        #expect(try codecs.decode(Data?.self, body, as: contentType) == body)
        #expect(try codecs.decode([UInt8].self, body, as: contentType) == [0xff, 0])
        #expect(try codecs.decode(Data.self, Data(), as: contentType).isEmpty)
        #expect(try codecs.decode([UInt8].self, Data(), as: contentType).isEmpty)
    }

    @Test("A String is decoded from a text type and from a JSON document")
    func strings() throws {
        #expect(try codecs.decode(String.self, "\"a\"", as: "text/plain") == "\"a\"")
        #expect(try codecs.decode(String.self, "\"a\"", as: "application/json") == "\"a\"")
        #expect(try codecs.decode(String.self, "\"a\"", as: "application/problem+json") == "\"a\"")
        #expect(try codecs.decode(String.self, "{}", as: "application/json") == "{}")
    }

    @Test(
        "Without a readable content type, a model is decoded as JSON and a String as text",
        arguments: [nil, "", "json", "a/b, c/d"])
    func noContentType(contentType: String?) throws {
        #expect(
            try codecs.decode(CodedNote.self, #"{"id":1,"text":"a"}"#, as: contentType) == CodedNote(id: 1, text: "a"))
        #expect(try codecs.decode(String.self, "{}", as: contentType) == "{}")
        #expect(throws: RequestFailure.self) { try codecs.decode(CodedNote.self, "<html>", as: contentType) }
    }

    @Test("The codec receives the full content type, and its own failure keeps reason and remedy")
    func codecFailure() throws {
        let codecs = CodecRegistry().registering(NamedCodec(name: "broken"), for: .any)
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(Int.self, "1", as: "A/B; C=\"d\"")
        }
        #expect(failure.reason == .tooLarge)
        #expect(failure.message == "broken")
        #expect(failure.remedy == "remedy of a/b; c=d")
        #expect(failure.phase == .decoding)
        #expect(failure.host == "h")
        #expect(failure.response?.body == Data("1".utf8))
    }

    @Test("An octet stream decodes only as bytes")
    func octetStream() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(CodedNote.self, "{}", as: "application/octet-stream")
        }
        #expect(failure.message.contains("application/octet-stream"))
        #expect(throws: RequestFailure.self) { try codecs.encode(1, as: .octetStream) }
    }
}

// MARK: - Empty bodies

extension CodecRegistryTests {
    @Test("An empty body fails with emptyBody for every status", arguments: [200, 201, 204])
    func emptyBody(status: Int) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try codecs.decode(CodedNote.self, "", status: status)
        }
        #expect(failure.reason == .emptyBody)
        #expect(failure.phase == .decoding)
        #expect(failure.message.contains("\(status)"))
        #expect(failure.message.contains("CodedNote"))
        #expect(failure.response?.body == Data())
        #expect(failure.response?.head.status.code == status)
    }

    @Test("An empty body is nil for an optional model, and a JSON body is decoded", arguments: [200, 204, 205, 304])
    func optionalModel(status: Int) throws {
        #expect(try codecs.decode(CodedNote?.self, "", status: status) == nil)
        #expect(try codecs.decode(String?.self, "", as: "text/plain", status: status) == nil)
        #expect(try codecs.decode(Data?.self, "", status: status) == nil)
        #expect(try codecs.decode(CodedNote?.self, #"{"id":1,"text":"a"}"#) == CodedNote(id: 1, text: "a"))
        #expect(try codecs.decode(CodedNote?.self, "null") == nil)
    }

    @Test("EmptyResponse accepts any body and an empty one", arguments: ["", "{}", "secret", "\u{0}"])
    func emptyResponse(body: String) throws {
        #expect(try codecs.decode(EmptyResponse.self, body, as: "image/png") == EmptyResponse())
        #expect(try codecs.decode(EmptyResponse.self, body, status: 204) == EmptyResponse())
        #expect(try codecs.decode(EmptyResponse.self, body, method: .head) == EmptyResponse())
        #expect(try codecs.decode(EmptyResponse?.self, body) == (body.isEmpty ? nil : EmptyResponse()))
        #expect(try codecs.text(EmptyResponse()) == "{}")
    }

    @Test("An empty String is returned only for a status without a body")
    func emptyString() throws {
        for status in [204, 205, 304] {
            #expect(try codecs.decode(String.self, "", as: "text/plain", status: status).isEmpty)
        }
        #expect(try codecs.decode(String.self, "", as: "text/plain", method: .head).isEmpty)
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(String.self, "", as: "text/plain") }
        #expect(failure.reason == .emptyBody)
    }

    @Test("After a HEAD request only an optional model is nil")
    func head() throws {
        #expect(try codecs.decode(CodedNote?.self, "", method: .head) == nil)
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(CodedNote.self, "", method: .head) }
        #expect(failure.reason == .emptyBody)
    }
}
