import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article DefiningAPIs")
struct DefiningAPIsTests {
    struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    struct NewUser: Codable, Hashable, Sendable { var name: String }
    struct Problem: Codable, Hashable, Sendable { var title: String }
    struct Film: Codable, Hashable, Sendable { var title: String }
    struct Invoice: Codable, Hashable, Sendable { var number: Int }
    struct Order: Codable, Hashable, Sendable { var placedOn: String }

    static let snakeCase: CodecRegistry = {
        var codecs = CodecRegistry.standard
        codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        return codecs
    }()

    // Article begins
    enum Shop: APIService {
        static let baseURL: RequestBase = "https://shop.example.com/v1/"
        static var sharedProperties: RequestProperties {
            RequestHeaders { ("X-Client", "cli") }
        }
        static var errorModel: (any (Decodable & Sendable).Type)? {
            Problem.self
        }
    }

    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"

        static let getAll: APIRequest<[User]> = request(.get)
        // GET /v1/users/7
        static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        static func create(_ user: NewUser) -> APIRequest<User> {
            request(.post) { RequestContent { user } }
        }
        static func delete(id: Int) -> APIRequest<Void> {
            request(.delete, "\(id)")
        }
    }
    // Article ends

    // Article begins
    enum Orders: Endpoint {
        typealias Parent = Users
        static let path: RequestPath = "orders"
        // keys such as “placed_on”
        static let codecs: CodecRegistry? = snakeCase
        static var configuration: APIConfiguration {
            var configuration = APIConfiguration()
            configuration.appendsTrailingSlash = true
            configuration.options.totalTimeout = .seconds(5)
            configuration.idempotencyKey = .automatic  // for unsafe methods
            return configuration
        }
        // GET /v1/users/orders/3/
        static func get(_ number: Int) -> APIRequest<Order> {
            request(.get, "\(number)")
        }
    }
    // Article ends

    // Article begins
    enum Films: APIService {
        case live, staging
        var baseURL: RequestBase {
            self == .live
                ? "https://films.example.com/" : "https://staging.example.com/"
        }
        // Films.staging.get(7)
        func get(_ id: Int) -> APIRequest<Film> { request(.get, "films/\(id)") }
    }

    struct Tenant: APIService {
        let baseURL: RequestBase
        let name: String
        var instanceProperties: RequestProperties {
            RequestHeaders { ("X-Tenant", name) }
        }
        var invoices: Invoices { Invoices(parent: self) }

        struct Invoices: BoundEndpoint {
            typealias Parent = Tenant
            static let path: RequestPath = "invoices"
            let parent: Tenant
            var getAll: APIRequest<[Invoice]> { request(.get) }
        }
    }
    // Article ends

    // Article begins
    struct SearchFilms: ServiceRequest {
        typealias Response = [Film]
        let text: String
        var method: HTTPRequest.Method { .get }
        var pathComponents: RequestPath { "films" }
        var queryItems: RequestQuery { ("q", text) }
    }

    @APIRequestBuilder<Users>
    func rename(id: Int, to name: String) -> APIRequest<User> {
        HTTPRequest.Method.patch
        RequestPath { id }
        RequestContent(json: ["name": JSONValue(name)])
    }
    // Article ends

    private let transport = ScriptedTransport()
    private let environment: ConstantEnvironment

    init() throws {
        environment = try ConstantEnvironment("https://api.example.com/v2/", headerFields: [.via: "1.0 api"])
    }

    private func service() -> any DataRequestService {
        HTTPDataRequestService(environment: environment, transport: transport)
    }

    private var urls: [String] { transport.requests.map { "\($0.method.rawValue) \($0.url)" } }

    @Test("The article on definitions begins with one request below the environment")
    func first() async throws {
        transport.on(.get, "/v2/users/7").answer(json: User(id: 7, name: "Ada"))
        let requests = service()

        // Article begins
        let user = try await requests.send(APIRequest<User>(.get, "users/7"))
        // Article ends
        #expect(user == User(id: 7, name: "Ada"))
        #expect(urls == ["GET https://api.example.com/v2/users/7"])
        #expect(transport.requests[0].headerFields[.via] == "1.0 api")
    }

    @Test("The article on definitions shows an API whose endpoints inherit")
    func inheritance() async throws {
        let requests = service()
        transport.on(Users.getAll).answer(json: [User]())
        transport.on(.get, "/v1/users/orders/3/").answer(json: ["placed_on": "Monday"])
        transport.on(Users.create(NewUser(name: "Ada"))).answer(.conflict, json: Problem(title: "Taken"))
        transport.stub(Users.delete(id: 7))

        #expect(try await requests.send(Users.getAll) == [])
        #expect(try await requests.send(Orders.get(3)) == Order(placedOn: "Monday"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await requests.send(Users.create(NewUser(name: "Ada")))
        }
        #expect(failure?.errorModel(as: Problem.self) == Problem(title: "Taken"))
        try await requests.send(Users.delete(id: 7))

        let base = "https://shop.example.com/v1/users"
        #expect(urls == ["GET \(base)", "GET \(base)/orders/3/", "POST \(base)", "DELETE \(base)/7"])
        #expect(try Users.get(id: 7).url().description == "\(base)/7")
        #expect(transport.requests.allSatisfy { $0.headerFields["X-Client"] == "cli" })
        // It is a foreign server, which receives no fields of the environment.
        #expect(transport.requests.allSatisfy { $0.headerFields[.via] == nil })
        #expect(transport.requests[1].options.totalTimeout == .seconds(5))
        #expect(transport.requests[2].headerFields[.contentType] == "application/json; charset=utf-8")
    }

    @Test("The article on definitions shows builders with conditions and loops")
    func builders() throws {
        let all = Users.find(role: nil)
        #expect(try all.url().target == "/v1/users/search?all")
        #expect(try all.headerFields == HTTPFields(["X-Client": "search", "Via": "1.1 proxy"]))
        let some = Users.find(role: "admin", tags: ["a", "b"], page: 2)
        #expect(try some.url().target == "/v1/users/search?role=admin&tag=a&tag=b&page=2")
        #expect(try some.headerFields[.cacheControl] == "no-cache")
    }

    @Test("The article on definitions names the bodies and their types, and refuses a second body")
    func bodies() throws {
        let path = "/no/such/file"
        let bodies: [RequestContent] = [
            RequestContent(NewUser(name: "Ada")), RequestContent(form: ["name": "Ada"]),
            RequestContent(json: ["tags": ["a", nil]]), RequestContent(.text("Ada")),
        ]
        let shown = try bodies.map { body in
            let snapshot = try APIRequest<Void>(.post, "users") { body }.snapshot()
            return "\(snapshot.headerFields[0].value): \(snapshot.body ?? "-")"
        }
        #expect(
            shown == [
                #"application/json; charset=utf-8: {"name":"Ada"}"#,
                "application/x-www-form-urlencoded; charset=utf-8: name=Ada",
                #"application/json; charset=utf-8: {"tags":["a",null]}"#, "text/plain; charset=utf-8: Ada",
            ])
        let file = RequestContent(try .file(path))
        let unreadable = #expect(throws: RequestFailure.self) { try APIRequest<Void>(.post, "films") { file }.build() }
        #expect(unreadable?.reason == .file)
        let two = APIRequest<Void>(.post, "users") {
            bodies[0]
            bodies[1]
        }
        let failure = #expect(throws: RequestFailure.self) { try two.build() }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("The article on definitions shows paths, in which a value is one segment")
    func paths() throws {
        // Article begins
        let id = "2026/1"  // each of the paths is users/2026%2F1/posts
        let text: RequestPath = "users/\(id)/posts"
        let parts = RequestPath("users", id, "posts")
        let named = RequestPath(template: "users/{id}/posts", ["id": id])
        // Article ends
        #expect(text.encoded == "users/2026%2F1/posts")
        #expect(parts == text)
        #expect(named == text)
        let (empty, up) = ("", "..")
        for path: RequestPath in ["users/\(up)", "users/\(empty)", RequestPath(template: "users/{id}", ["id": empty])] {
            let request = APIRequest<Void>(.get, path)
            let failure = #expect(throws: RequestFailure.self) { try request.build() }
            #expect(failure?.reason == .invalidRequest)
        }
        let short = RequestPath("users", empty, nil as String?)
        #expect(short.encoded == "users")
    }

    @Test("The article on definitions shows services as values")
    func values() async throws {
        #expect(try Films.staging.get(7).url().description == "https://staging.example.com/films/7")
        #expect(try Films.live.get(7).url().description == "https://films.example.com/films/7")
        transport.on(.get, "/invoices").answer(json: [Invoice(number: 1)])
        transport.on(.get, "/users/7").answer(json: User(id: 7, name: "Ada"))
        let requests = service()

        // Article begins
        let acme = Tenant(baseURL: "https://acme.example.com/", name: "acme")
        // GET https://acme.example.com/invoices
        let invoices = try await requests.send(acme.invoices.getAll)
        // to acme.example.com/users/7
        let copy = try await requests.send(acme.request(Users.get(id: 7)))
        // an environment service, read now
        let current = Tenant(baseURL: RequestBase(environment), name: "acme")
        // Article ends
        #expect(invoices == [Invoice(number: 1)])
        #expect(copy == User(id: 7, name: "Ada"))
        #expect(urls == ["GET https://acme.example.com/invoices", "GET https://acme.example.com/users/7"])
        #expect(transport.requests.map { $0.headerFields["X-Tenant"] } == ["acme", "acme"])
        #expect(transport.requests.map { $0.headerFields[.via] } == [nil, nil])
        #expect(try current.invoices.getAll.url().description == "https://api.example.com/v2/invoices")
    }

    @Test("The article on definitions shows requests as types and statements, and changed copies")
    func forms() throws {
        let search = try SearchFilms(text: "m").definition.url(under: RequestURL("https://a.test/"))
        #expect(search.description == "https://a.test/films?q=m")
        let renamed = try rename(id: 7, to: "Grace").snapshot()
        #expect(renamed.method == "PATCH")
        #expect(renamed.url == "https://shop.example.com/v1/users/7")
        #expect(renamed.body == #"{"name":"Grace"}"#)

        // Article begins
        let touch = APIRequest(.put, "touched/7").idempotencyKey(.text("7-3"))
        let next = Users.find(role: "admin").settingQuery("page", 2)
            .removingHeader("Via").deadline(.seconds(5))
        let moved = Users.get(id: 7).reading(DataResponse.self).based(
            on: "https://mirror.example.com/")
        // Article ends
        #expect(try touch.headerFields["idempotency-key"] == "7-3")
        #expect(try next.url().target == "/v1/users/search?role=admin&page=2")
        #expect(try next.headerFields == HTTPFields(["X-Client": "search"]))
        #expect(next.configuration.options.totalTimeout == .seconds(5))
        #expect(try moved.url().description == "https://mirror.example.com/users/7")
    }

    @Test("A base URL of a definition keeps its query, and in the origin of the environment also the fields")
    func bases() async throws {
        transport.on(.get, "/**").answer()
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        requests.setAuthorization(try .bearer("abc"))
        let request = APIRequest<Void>(.get, "status") { RequestQuery { ("q", 1) } }
        try await requests.send(request.based(on: "https://api.example.com/v3?key=1"))
        try await requests.send(request.based(on: "https://other.example.com/v3?key=1"))
        #expect(
            urls == [
                "GET https://api.example.com/v3/status?key=1&q=1", "GET https://other.example.com/v3/status?key=1&q=1",
            ])
        #expect(transport.requests.map { $0.headerFields[.via] } == ["1.0 api", nil])
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer abc", nil])
    }
}

extension DefiningAPIsTests.Users {
    typealias User = DefiningAPIsTests.User

    // Article begins
    static func find(
        role: String?, tags: [String] = [], page: Int? = nil
    ) -> APIRequest<[User]> {
        request(.get, "search") {
            RequestQuery {
                // an empty value: the name alone
                if let role { ("role", role) } else { ("all", "") }
                for tag in tags { ("tag", tag) }
                // `nil` removes earlier items of this name, also inherited ones
                ("page", page)
            }
            RequestHeaders {
                // replaces a parent's field; `nil` removes it
                ("X-Client", "search")
                // one more value; `removing` removes
                RequestHeader.adding("Via", "1.1 proxy")
            }
            if page != nil { RequestHeader.cacheControl("no-cache") }
        }
    }
    // Article ends
}
