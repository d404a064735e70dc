import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
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

private struct Update: ServiceRequest {
    var method: HTTPRequest.Method { .put }
    var contentType: MediaType { .form }
    var idempotencyKey: IdempotencyKey { .text("update-1") }
    var body: RequestContent { Note(id: 1, text: "a") }
}

@Suite("Declarations of members that can be left out")
struct ErrorModelDeclarationTests {
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

    @Test("A content type and a key have an effect without the optional type")
    func required() throws {
        let snapshot = try Update().definition.snapshot(showsSecrets: true)
        #expect(snapshot.body == "id=1&text=a")
        #expect(try Update().build().idempotencyKey == .text("update-1"))
    }
}
