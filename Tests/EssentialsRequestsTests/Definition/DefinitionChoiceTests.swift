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

private struct Tenant: APIService {
    static let baseURL = "https://tenant.example"
    let name: String
    var instanceProperties: RequestProperties { RequestQuery { ("tenant", name) } }
}

/// Components whose error model is a class.
private enum Classes {
    final class Shared: Decodable {
        var title = ""
    }
    final class Constant: Decodable, Sendable {
        let title: String
    }
    enum Inferred: APIService {
        static let errorModel = Shared.self
        static let get = request(.get, "a")
    }
    enum OptionalClass: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "b"
        static var errorModel: Shared.Type? { Shared.self }
        static let get = request(.get)
    }
    enum Checked: APIService {
        static var errorModel: (any (Decodable & Sendable).Type)? { Constant.self }
        static let get = request(.get, "a")
    }
    enum Required: APIService {
        static var errorModel: any (Decodable & Sendable).Type { Constant.self }
        static let get = request(.get, "a")
    }
}

private struct Update: ServiceRequest {
    var method: HTTPRequest.Method { .put }
    var contentType: MediaType { .form }
    var idempotencyKey: IdempotencyKey { .text("update-1") }
    var body: RequestContent { Note(id: 1, text: "a") }
}

/// Requests whose members are declared with other types than those of the defaults.
private enum Members {
    struct Order: Sendable { let id: String }

    struct Text: ServiceRequest {
        let order = Order(id: "order-7")
        let contentType = "text/csv; charset=utf-8"
        let headers: HTTPFields = [.accept: "text/plain"]
        var method: HTTPRequest.Method { .post }
        var idempotencyKey: String { order.id }
        var body: RequestContent { RequestContent(.data(Data("a,b".utf8))) }
    }
    struct Optionals: ServiceRequest {
        var idempotencyKey: String?
        var contentType: String?
        var headers: HTTPFields?
        let method = HTTPRequest.Method.post
        var body: RequestContent { Note(id: 1, text: "a") }
    }
    struct Values: ServiceRequest {
        let idempotencyKey = UUID(uuidString: "8E1B4B52-2F6E-4A6F-9F44-0C7F0D9B6C11")
        let headers = ["X-Client": "cli"]
        let method = HTTPRequest.Method.post
    }
    struct OwnKey: DefinitionChoice {
        var definitionValue: IdempotencyKey? { .text("own") }
    }
    struct Own: ServiceRequest {
        let idempotencyKey = OwnKey()
        let method = HTTPRequest.Method.post
    }
    struct NumberKey: ServiceRequest {
        let idempotencyKey = 7
        let method = HTTPRequest.Method.post
    }
    struct BadType: ServiceRequest {
        let contentType = "no media type"
        let method = HTTPRequest.Method.post
        var body: RequestContent { Note(id: 1, text: "a") }
    }
    struct OddType: ServiceRequest {
        let contentType: [String] = []
        let method = HTTPRequest.Method.post
    }
    struct OddHeaders: ServiceRequest {
        let headers = "Accept: text/plain"
        let method = HTTPRequest.Method.post
    }
}

// The compiler refuses members with types from which their values cannot be made. Each of these lines is the error “type
// 'A' does not conform to protocol 'APIComponent'” (or 'TypedRequest'), with the note below it:
//
//     enum A: APIService { static let baseURL = UUID() }
//         candidate would match if 'UUID' conformed to 'DefinitionChoice'
//     struct B: APIService { let baseURL: UUID }
//         candidate would match if 'UUID' conformed to 'DefinitionChoice'
//     enum C: APIService { static let configuration = Duration.seconds(5) }
//         candidate would match if 'Duration' was the same type as 'APIConfiguration'
//     enum D: APIService { static let codecs = JSONDecoder() }
//         candidate would match if 'JSONDecoder' conformed to 'DefinitionChoice'
//     enum E: APIService { static let sharedProperties = RequestHeaders() }
//         candidate would match if 'RequestHeaders' was the same type as 'RequestProperties'
//     struct F: APIService { let instanceProperties = ["a": "b"] }
//         candidate would match if '[String : String]' was the same type as 'RequestProperties'
//     struct G: ServiceRequest { let method = HTTPRequest.Method.get; let pathComponents = "users/7" }
//         candidate would match if 'String' was the same type as 'RequestPath'
//     struct H: ServiceRequest { let method = HTTPRequest.Method.get; let queryItems = ["a": "b"] }
//         candidate would match if '[String : String]' was the same type as 'RequestQuery'
//     struct I: ServiceRequest { let method = HTTPRequest.Method.post; let body: Data }
//         candidate would match if 'Data' was the same type as 'RequestContent'

/// A protocol of the program that gives members to its requests.
private protocol Searching: ServiceRequest {
    var text: String { get }
}

extension Searching {
    var method: HTTPRequest.Method { .get }
    var queryItems: RequestQuery { RequestQuery { ("q", text) } }
}

private struct Search: Searching { let text: String }

/// Requests with properties that throw.
private enum Throwing {
    struct Unread: Error {}

    struct File: ServiceRequest {
        let path: String
        let method = HTTPRequest.Method.post
        var body: RequestContent {
            get throws {
                let content = try DataRequest.Body.file(path)
                return RequestContent(content)
            }
        }
    }
    struct Query: ServiceRequest {
        let text: String?
        let method = HTTPRequest.Method.get
        var queryItems: RequestQuery {
            get throws {
                guard let text else { throw Unread() }
                return RequestQuery { ("q", text) }
            }
        }
    }
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

    @Test("A class is an error model only if the compiler has checked that it is Sendable")
    func classes() throws {
        for build in [{ try Classes.Inferred.get.build() }, { try Classes.OptionalClass.get.build() }] {
            let failure = #expect(throws: RequestFailure.self) { try build() }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.contains("Shared") == true)
            #expect(failure?.remedy?.contains("(any (Decodable & Sendable).Type)?") == true)
        }
        #expect(try Classes.Checked.get.build().errorModel is Classes.Constant.Type)
        #expect(try Classes.Required.get.build().errorModel is Classes.Constant.Type)
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

    @Test("A key, a content type and header fields have an effect as texts and as fields")
    func texts() throws {
        let text = try Members.Text().build()
        #expect(text.idempotencyKey == .text("order-7"))
        #expect(text.headerFields[.contentType] == "text/csv; charset=utf-8")
        #expect(text.headerFields[.accept] == "text/plain")
        let set = try Members.Optionals(idempotencyKey: "k", contentType: "text/csv", headers: [.accept: "a/b"]).build()
        #expect(set.idempotencyKey == .text("k"))
        #expect(set.headerFields[.contentType] == "text/csv" && set.headerFields[.accept] == "a/b")
        let unset = try Members.Optionals().build()
        #expect(unset.idempotencyKey == nil && unset.headerFields.isEmpty)
        let values = try Members.Values().build()
        #expect(values.idempotencyKey == .text("8E1B4B52-2F6E-4A6F-9F44-0C7F0D9B6C11"))
        #expect(values.headerFields["X-Client"] == "cli")
        #expect(try Members.Own().build().idempotencyKey == .text("own"))
    }

    @Test("A member from which no value can be made fails when the request is built, and says how to declare it")
    func oddMembers() {
        for (request, member) in [
            (Members.NumberKey() as any BuildableRequest, "idempotencyKey"), (Members.OddType(), "contentType"),
            (Members.OddHeaders(), "headers"), (Members.BadType(), ""),
        ] {
            let failure = #expect(throws: RequestFailure.self) { try request.build() }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.contains(member) == true || member.isEmpty)
            #expect(failure?.remedy?.isEmpty == false)
        }
    }

    @Test("A content type and a key have an effect without the optional type")
    func required() throws {
        let snapshot = try Update().definition.snapshot(showsSecrets: true)
        #expect(snapshot.body == "id=1&text=a")
        #expect(try Update().build().idempotencyKey == .text("update-1"))
    }

    @Test("A member that a protocol of the program gives to its requests has an effect")
    func inherited() throws {
        #expect(try Search(text: "a").definition.snapshot().url == "?q=a")
    }

    @Test("A value of any service sends a request with its base URL and its properties")
    func generic() throws {
        func url<Service: APIService>(_ service: Service) throws -> String {
            try service.request(Bases.Text.get).url().description
        }
        #expect(try url(Bases.Value(baseURL: "https://value.example")) == "https://value.example/a")
        #expect(try url(Tenant(name: "acme")) == "https://tenant.example/a?tenant=acme")
    }

    @Test("A property of a request that throws is the failure of the request")
    func throwing() throws {
        #expect(try Throwing.Query(text: "a").definition.snapshot().url == "?q=a")
        let query = #expect(throws: RequestFailure.self) { try Throwing.Query(text: nil).build() }
        #expect(query?.reason == .invalidRequest)
        #expect(query?.message.contains("Query") == true)
        #expect(query?.underlying is Throwing.Unread)
        let file = #expect(throws: RequestFailure.self) { try Throwing.File(path: "/no/such/file").build() }
        #expect(file?.reason == .file)
    }
}
