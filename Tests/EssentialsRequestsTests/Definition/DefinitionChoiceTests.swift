import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

private struct Problem: Codable, Sendable, Hashable { let title: String }

/// Components that declare their error model in each way.
private enum Shop: APIService {
    static let errorModel = Problem.self
    static let get: APIRequest<Note> = request(.get, "taken")

    enum Inherited: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "a"
        static let get: APIRequest<Note> = request(.get)
    }
    enum Written: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "b"
        static var errorModel: Note.Type { Note.self }
        static let get: APIRequest<Note> = request(.get)
    }
    enum OptionalModel: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "c"
        static var errorModel: Note.Type? { Note.self }
        static let get: APIRequest<Note> = request(.get)
    }
    enum NoModel: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "d"
        static var errorModel: Note.Type? { nil }
        static let get: APIRequest<Note> = request(.get)
    }
    enum Required: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "e"
        static var errorModel: any (Decodable & Sendable).Type { Note.self }
        static let get: APIRequest<Note> = request(.get)
    }
    enum Whole: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "f"
        static var errorModel: (any (Decodable & Sendable).Type)? { Note.self }
        static let get: APIRequest<Note> = request(.get)
    }
    enum Invalid: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "g"
        static let errorModel = Problem(title: "a value")
        static let get: APIRequest<Note> = request(.get)
    }
}

private enum Untyped: APIService {
    static let baseURL: RequestBase = "https://h.example"
    static var errorModel: String { "Problem" }
    static let ping = request(.get, "ping")
}

/// Services that declare their base URL in each way.
private enum Bases {
    enum Text: APIService {
        static let baseURL = "https://text.example/v1/"
        static let get = request(.get, "a")
    }
    enum OptionalText: APIService {
        static var baseURL: String? { "https://optional.example/" }
        static let get = request(.get, "a")
    }
    enum NoBase: APIService {
        static var baseURL: String? { nil }
        static let get = request(.get, "a")
    }
    enum Whole: APIService {
        static var baseURL: URL? { URL(string: "https://url.example") }
        static let get = request(.get, "a")
    }
    struct Value: APIService {
        let baseURL: String
        var get: APIRequest<Void> { request(.get, "a") }
    }
    struct Found: APIService {
        let baseURL: RequestURL?
        static let baseURL = "https://namespace.example"
        var get: APIRequest<Void> { request(.get, "a") }
    }
}

private struct Update: ServiceRequest {
    var method: HTTPRequest.Method { .put }
    var contentType: MediaType { .form }
    var idempotencyKey: IdempotencyKey { .text("update-1") }
    var body: RequestContent { Note(id: 1, text: "a") }
}

@Suite("Declarations of members that can be left out")
struct DefinitionChoiceTests {
    @Test("An error model has an effect however its type is declared")
    func declared() throws {
        #expect(Shop.get.errorModel is Problem.Type)
        #expect(Shop.Inherited.get.errorModel is Problem.Type)
        #expect(Shop.Written.get.errorModel is Note.Type)
        #expect(Shop.OptionalModel.get.errorModel is Note.Type)
        #expect(Shop.NoModel.get.errorModel is Problem.Type)
        #expect(Shop.Required.get.errorModel is Note.Type)
        #expect(Shop.Whole.get.errorModel is Note.Type)
    }

    @Test("An error model that is declared without an optional type is read from failures")
    func read() async throws {
        let fixture = try ServiceFixture(StubTransport(status: 409, #"{"title":"taken"}"#))
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(Shop.get) }
        #expect(failure?.errorModel(as: Problem.self) == Problem(title: "taken"))
    }

    @Test("An error model that is no type of a model fails when a request is built")
    func invalid() throws {
        let value = #expect(throws: RequestFailure.self) { try Shop.Invalid.get.build() }
        #expect(value?.reason == .invalidRequest)
        #expect(value?.message.contains("errorModel") == true)
        let text = #expect(throws: RequestFailure.self) { try Untyped.ping.build() }
        #expect(text?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try Untyped.ping.url() }
    }

    @Test("A base URL has an effect as a text, as a URL and as an optional value")
    func bases() throws {
        #expect(try Bases.Text.get.url().description == "https://text.example/v1/a")
        #expect(try Bases.OptionalText.get.url().description == "https://optional.example/a")
        #expect(try Bases.NoBase.get.build().base == .environment)
        #expect(try Bases.Whole.get.url().description == "https://url.example/a")
        let value = Bases.Value(baseURL: "https://value.example")
        #expect(try value.get.url().description == "https://value.example/a")
        #expect(try value.request(Bases.Text.get).url().description == "https://value.example/a")
        let found = Bases.Found(baseURL: try RequestURL("https://found.example"))
        #expect(try found.get.url().description == "https://found.example/a")
        #expect(try Bases.Found(baseURL: nil).get.url().description == "https://namespace.example/a")
        #expect(throws: RequestFailure.self) { try Bases.Value(baseURL: "ftp://h/").get.url() }
    }

    @Test("A content type and a key have an effect without the optional type")
    func required() throws {
        let snapshot = try Update().definition.snapshot(showsSecrets: true)
        #expect(snapshot.body == "id=1&text=a")
        #expect(try Update().build().idempotencyKey == .text("update-1"))
    }
}
