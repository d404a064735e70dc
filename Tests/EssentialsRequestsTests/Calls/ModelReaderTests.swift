import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Reading models from bytes")
struct ModelReaderTests {
    private func failure<Model: Decodable & Sendable>(
        _ type: Model.Type, _ text: String, as mediaType: MediaType?,
        _ source: ModelReader<Model>.Source = ModelReader<Model>.Source()
    ) async -> RequestFailure? {
        await #expect(throws: RequestFailure.self) {
            try await ModelReader(type, codecs: .standard).model(from: Data(text.utf8), as: mediaType, source)
        }
    }

    private func read<Model: Decodable & Sendable>(
        _ type: Model.Type, _ text: String, as mediaType: MediaType?
    ) async throws -> Model {
        try await ModelReader(type, codecs: .standard).model(from: Data(text.utf8), as: mediaType)
    }

    @Test("The type decides whether bytes are a model, a text, bytes or nothing")
    func types() async throws {
        #expect(try await read(Note.self, #"{"id":1,"text":"a"}"#, as: .json) == Note(id: 1, text: "a"))
        #expect(try await read(String.self, "a", as: .text) == "a")
        #expect(try await read(Data.self, "{", as: .json) == Data("{".utf8))
        #expect(try await read([UInt8].self, "{", as: nil) == Array("{".utf8))
        #expect(try await read(EmptyResponse.self, "{", as: .json) == EmptyResponse())
        #expect(try await read(Note?.self, "", as: .json) == nil)
    }

    @Test("Without a media type, a string is read as text and every other model as JSON")
    func unknownType() async throws {
        #expect(try await read(String.self, "[1]", as: nil) == "[1]")
        #expect(try await read([Int].self, "[1]", as: nil) == [1])
    }

    @Test("A failure names the request if its URL is known, without the query")
    func failures() async throws {
        let anonymous = await failure(Note.self, "{", as: .json)
        #expect(anonymous?.reason == .decoding && anonymous?.request == nil && anonymous?.host == nil)
        let url = try RequestURL("https://h/notes?token=s3cret")
        let source = ModelReader<Note>.Source(head: HTTPResponse(status: .created), method: .post, url: url)
        let named = await failure(Note.self, "{", as: .json, source)
        #expect(named?.request == "POST https://h/notes?…" || named?.request == "POST https://h/notes")
        #expect(named?.host == "h" && named?.status == .created)
        #expect(await failure(Note.self, "", as: .json)?.reason == .emptyBody)
        #expect(await failure(Note.self, "x", as: .text)?.reason == .decoding)
    }

    @Test("An empty body is an empty text after a HEAD request")
    func head() async throws {
        let reader = ModelReader(String.self, codecs: .standard)
        #expect(try await reader.model(from: Data(), as: nil, ModelReader.Source(method: .head)) == "")
        await #expect(throws: RequestFailure.self) { try await reader.model(from: Data(), as: nil) }
    }

    @Test("The Accept field goes with the type, in a request and as a value")
    func accept() async throws {
        let fixture = try ServiceFixture()
        func check<Model: Decodable & Sendable>(_ type: Model.Type, _ value: String) async throws {
            let reader = ModelReader(type, codecs: .standard)
            #expect(reader.accept() == value)
            #expect(try await fixture.sent(reader.requesting(DataRequest(.get, "a"))).headerFields[.accept] == value)
        }
        try await check(Note.self, "application/json")
        try await check([Note]?.self, "application/json")
        try await check(String.self, "*/*")
        try await check(Data.self, "*/*")
        try await check(EmptyResponse.self, "*/*")
        #expect(ModelReader(String.self, codecs: .standard).accept(.seCompatible) == "application/json; charset=utf-8")
    }
}
