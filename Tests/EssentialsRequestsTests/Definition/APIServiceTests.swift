import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

/// An API as a value: an enumeration of environments.
private enum Stage: String, APIService {
    case production = "https://api.example"
    case development = "https://dev.example/base?key=1"

    var baseURL: RequestBase { RequestBase(rawValue) }

    static var sharedProperties: RequestProperties {
        RequestHeaders {
            ("X-Client", "shared"); ("X-Shared", "1")
        }
        RequestQuery { ("s", 1) }
        RequestPath { "shared" }
    }
    var instanceProperties: RequestProperties {
        RequestHeaders {
            ("X-Client", rawValue); if self == .development { ("X-Debug", "1") }
        }
        RequestQuery { ("i", 1) }
        RequestPath { "instance" }
    }
    static var configuration: APIConfiguration {
        var configuration = APIConfiguration()
        configuration.expectedStatus = 201
        configuration.options.totalTimeout = .seconds(5)
        return configuration
    }
    static var errorModel: (any (Decodable & Sendable).Type)? { Note.self }

    var notes: APIRequest<[Note]> { request(.get, "notes") }
    var users: Users { Users(parent: self) }

    struct Users: BoundEndpoint {
        static let path: RequestPath = "users"
        static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "users") } }
        let parent: Stage
        func get(id: Int) -> APIRequest<Note> { request(.get, "\(id)") }
        var orders: Orders { Orders(parent: self) }
    }

    struct Orders: BoundEndpoint {
        static let path: RequestPath = "orders"
        static var configuration: APIConfiguration { APIConfiguration() }
        let parent: Users
        func get(_ number: String) -> APIRequest<Note> { request(.get) { RequestPath { number } } }
    }

    /// An endpoint of the namespace.
    enum Tags: Endpoint {
        typealias Parent = Stage
        static let path: RequestPath = "tags"
        static var sharedProperties: RequestProperties {
            RequestHeaders {
                ("X-Tags", "1"); RequestHeader.removing("X-Shared")
            }
        }
        static let all: APIRequest<[Note]> = request(.get)
    }
}

private enum Bare: APIService {
    static let get: APIRequest<Note> = request(.get, "n")
}

/// Components that declare their codecs in each way.
private enum Coded: APIService {
    static let codecs = CodecRegistry().registering(JSONCodec(), for: MediaPattern(.json))
    static let get: APIRequest<Note> = request(.get)

    enum Inherited: Endpoint {
        typealias Parent = Coded
        static let path: RequestPath = "a"
        static let get: APIRequest<Note> = request(.get)
    }
    enum Empty: Endpoint {
        typealias Parent = Coded
        static let path: RequestPath = "b"
        static var codecs: CodecRegistry { CodecRegistry() }
        static let get: APIRequest<Note> = request(.get)
    }
    enum Optional: Endpoint {
        typealias Parent = Coded
        static let path: RequestPath = "c"
        static var codecs: CodecRegistry? { CodecRegistry() }
        static let get: APIRequest<Note> = request(.get)
    }
    enum None: Endpoint {
        typealias Parent = Coded
        static let path: RequestPath = "d"
        static let codecs: CodecRegistry? = nil
        static let get: APIRequest<Note> = request(.get)
    }
}

@Suite("APIService")
struct APIServiceTests {
    @Test("Each value of an API has its own base URL and properties")
    func values() throws {
        #expect(try Stage.production.notes.url().description == "https://api.example/shared/instance/notes?s=1&i=1")
        let development = Stage.development.notes
        #expect(try development.url().description == "https://dev.example/base/shared/instance/notes?key=1&s=1&i=1")
        #expect(try development.headerFields["x-client"] == Stage.development.rawValue)
        #expect(try development.headerFields["x-debug"] == "1")
        #expect(try Stage.production.notes.headerFields["x-debug"] == nil)
    }

    @Test("Bound endpoints inherit the base URL and everything else from their value, at any depth")
    func bound() throws {
        let user = Stage.development.users.get(id: 7)
        #expect(
            user.target == "/base/users/7?key=1&s=1&i=1" || user.target == "/base/users/shared/instance/7?key=1&s=1&i=1"
        )
        #expect(try user.headerFields["x-client"] == "users")
        #expect(try user.headerFields["x-debug"] == "1")
        #expect(user.configuration.expectedStatus.contains(201))
        #expect(!user.configuration.expectedStatus.contains(200))
        let order = Stage.production.users.orders.get("a/b")
        #expect(try order.url().path.hasSuffix("/a%2Fb"))
        #expect(order.endpointPath == "users/orders")
        #expect(order.configuration.expectedStatus.contains(200))
        #expect(order.errorModel is Note.Type)
    }

    @Test("A request of a namespace's endpoint can be sent by a value, with the value's properties in their place")
    func rebased() throws {
        let all = Stage.development.request(Stage.Tags.all)
        #expect(try all.url().description == "https://dev.example/base/tags/shared/instance?key=1&s=1&i=1")
        #expect(try all.headerFields["x-client"] == Stage.development.rawValue)
        #expect(try all.headerFields["x-tags"] == "1")
        #expect(try all.headerFields["x-shared"] == nil)
        let changed = Stage.production.request(Stage.Tags.all.setting(RequestHeaders(["X-Client": "own"])))
        #expect(try changed.headerFields["x-client"] == "own")
        #expect(Stage.production.request(Stage.Tags.all) != all)
    }

    @Test("A value sends its own request and that of another value with its properties once, and without the other's")
    func rebasedTwice() throws {
        let own = Stage.production.notes
        #expect(Stage.production.request(own) == own)
        #expect(Stage.development.request(own) == Stage.development.notes)
        #expect(try Stage.production.request(Stage.development.users.get(id: 7)).headerFields["x-debug"] == nil)
        let changed = Stage.production.request(Stage.development.notes.adding(RequestQuery("x", 1)))
        #expect(try changed.url().description == "https://api.example/shared/instance/notes?s=1&i=1&x=1")
        #expect(Stage.production.request(own.setting(RequestQuery("x", 1))).target == "/shared/instance/notes?i=1&x=1")
    }

    @Test("An API without a base URL is sent to the environment of the service")
    func environment() async throws {
        #expect(Bare.get.base == .environment)
        #expect(throws: RequestFailure.self) { try Bare.get.url() }
        #expect(try Bare.get.url(under: RequestURL("https://h/v1?a=1")).description == "https://h/v1/n?a=1")
        let fixture = try ServiceFixture()
        _ = try await fixture.service.data(of: Bare.get)
        #expect(try fixture.last().url.description == "https://h/v1/n")
        _ = try await fixture.service.data(of: APIRequest<Note>(.get, "free"))
        #expect(try fixture.last().url.description == "https://h/v1/free")
    }

    @Test("A base URL comes from an environment service, with its header fields")
    func environmentService() async throws {
        struct Shop: APIService {
            let baseURL: RequestBase
            var notes: APIRequest<Note> { request(.get, "notes") }
        }
        let environment = try ConstantEnvironment("https://e.example/x", headerFields: headerFields(["X-Env": "1"]))
        let fixture = try ServiceFixture(fields: headerFields(["X-Other": "1"]))
        _ = try await fixture.service.data(of: Shop(baseURL: RequestBase(environment)).notes)
        let sent = try fixture.last()
        #expect(sent.url.description == "https://e.example/x/notes")
        #expect(sent.headerFields["X-Env"] == "1")
        #expect(sent.headerFields["X-Other"] == nil)
    }

    @Test(
        "A base must be an absolute http or https URL",
        arguments: [
            "", "/v1", "h.example", "ftp://h.example", "https://", "https://a:b@h", "https://h:99999/", "a://@@", "\0",
        ])
    func invalidBase(_ text: String) {
        let request = definition("n", base: RequestBase(text))
        let failure = #expect(throws: RequestFailure.self) { try request.url() }
        #expect(failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try request.snapshot() }
    }

    @Test("A configuration is inherited unless the endpoint has its own, and can add a slash to the path")
    func configuration() throws {
        var context = APIContext(base: "https://h.example/v1/")
        context.configuration.appendsTrailingSlash = true
        #expect(APIRequest<Note>(.get, "a/b", in: context).target == "/v1/a/b/")
        #expect(APIRequest<Note>(.get, in: context).target == "/v1/")
        var file = APIContext(base: "https://h.example/v1")
        #expect(APIRequest<Note>(.get, in: file).target == "/v1")
        file.configuration.appendsTrailingSlash = true
        #expect(APIRequest<Note>(.get, in: file).target == "/v1/")
        #expect(
            APIRequest<Note>(.get, in: file, RequestProperties { RequestQuery("x", 1) }).target == "/v1/?x=1")
        #expect(
            APIRequest<Note>(.get, "a", in: context, RequestProperties { RequestQuery("x", 1) }).target == "/v1/a/?x=1")
        #expect(try Stage.production.notes.build().options.totalTimeout == .seconds(5))
    }

    @Test("A definition without a path of its own is sent with the slash that its configuration appends")
    func sentSlash() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/").answer(.noContent)
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h.example/v1"), transport: transport)
        var context = EnvironmentAPI.context
        context.configuration.appendsTrailingSlash = true
        try await requests.send(APIRequest<Void>(.get, in: context))
        #expect(transport.requests.map(\.url.target) == ["/v1/"])
    }

    @Test("Codecs of a component are used with and without an optional type, and are inherited")
    func codecs() throws {
        #expect(Coded.get.codecs?.patterns.count == 1)
        #expect(Coded.Inherited.get.codecs?.patterns.count == 1)
        #expect(Coded.Empty.get.codecs?.patterns.isEmpty == true)
        #expect(Coded.Optional.get.codecs?.patterns.isEmpty == true)
        #expect(Coded.None.get.codecs?.patterns.count == 1)
        #expect(Bare.get.codecs == nil)
    }

    @Test("A builder without a method, or with two, fails when the request is built")
    func methods() throws {
        @APIRequestBuilder<Bare> func none() -> APIRequest<Note> { RequestPath { "n" } }
        @APIRequestBuilder<Bare> func two(_ second: Bool) -> APIRequest<Note> {
            HTTPRequest.Method.get
            if second { HTTPRequest.Method.post }
            for _ in 0..<2 { RequestPath { "n" } }
            if #available(macOS 15, *) { RequestQuery("x", 1) } else { RequestHeader("X", "1") }
            switch second {
            case true: RequestContent("a")
            case false: RequestProperties()
            }
        }
        let failure = #expect(throws: RequestFailure.self) { try none().build() }
        #expect(failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try two(true).build() }
        #expect(try two(false).build().path == "n/n")
        #expect(none() != APIRequest<Note>(.get, "n", parent: Bare.self))
    }
}
