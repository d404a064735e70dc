import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

private enum Shop: APIService {
    struct User: Codable, Sendable, Hashable { let firstName: String }
    struct Problem: Codable, Sendable, Hashable { let title: String }

    static let baseURL: RequestBase = "https://shop.example/v1"
    static var codecs: CodecRegistry? { .standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json)) }
    static var errorModel: (any (Decodable & Sendable).Type)? { Problem.self }

    static let all: APIRequest<[User]> = request(.get, "users")
    static func get(_ name: String) -> APIRequest<User> {
        request(.get) {
            RequestPath {
                "users"; name
            }
        }
    }
    static func create(_ user: User) -> APIRequest<User> { request(.post, "users") { RequestContent { user } } }
    static func remove(_ name: String) -> APIRequest<Void> { request(.delete, "users/\(name)") }
    static func send(_ bytes: Data) -> APIRequest<Void> { request(.put, "bytes") { RequestContent { bytes } } }
}

@Suite("Scripts for definitions")
struct DefinitionScriptTests {
    private let transport = ScriptedTransport()
    private let ada = Shop.User(firstName: "Ada")
    private let eva = Shop.User(firstName: "Eva")
    private let requests: HTTPDataRequestService

    init() throws {
        requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://env.example/api/"), transport: transport)
    }

    @Test("A stub returns its model, encoded by the codecs of the definition")
    func model() async throws {
        transport.stub(Shop.all, with: [ada], headerFields: [.location: "/x"])
        let response = try await requests.response(to: Shop.all)
        #expect(response.model == [ada])
        #expect(response.response.head.headerFields[.location] == "/x")
        #expect(try await requests.data(of: Shop.all) == Data(#"[{"first_name":"Ada"}]"#.utf8))
    }

    @Test("Models in order answer one request each, and the last one is repeated")
    func inOrder() async throws {
        transport.stub(Shop.get("a"), inOrder: [ada, eva])
        var names: [String] = []
        for _ in 0..<3 { names.append(try await requests.send(Shop.get("a")).firstName) }
        #expect(names == ["Ada", "Eva", "Eva"])
    }

    @Test("A stub fails with an error model, a status or a reason, and later answers follow")
    func failures() async throws {
        transport.stub(Shop.create(ada), status: .conflict, error: Shop.Problem(title: "taken"))
        let conflict = await #expect(throws: RequestFailure.self) { try await requests.send(Shop.create(ada)) }
        #expect(conflict?.status == .conflict)
        #expect(conflict?.errorModel(as: Shop.Problem.self)?.title == "taken")
        transport.stub(Shop.all, failing: .timeout)
        let timeout = await #expect(throws: RequestFailure.self) { try await requests.send(Shop.all) }
        #expect(timeout?.reason == .timeout)
        transport.stub(Shop.get("a"), with: ada).thenAnswer(.notFound)
        #expect(try await requests.send(Shop.get("a")) == ada)
        let missing = await #expect(throws: RequestFailure.self) { try await requests.send(Shop.get("a")) }
        #expect(missing?.status == .notFound)
    }

    @Test("Without a status, a stub without a model is an empty 204")
    func standardStatus() async throws {
        transport.stub(Shop.remove("a"))
        transport.stub(Shop.remove("b"), status: .accepted)
        #expect(try await requests.send(Shop.remove("a").reading(DataResponse.self)).head.status == .noContent)
        #expect(try await requests.send(Shop.remove("b").reading(DataResponse.self)).head.status == .accepted)
        try await requests.send(Shop.remove("a"))
    }

    @Test("A delayed stub answers when the clock has advanced")
    func delay() async throws {
        transport.stub(Shop.all, with: [ada], after: .seconds(2))
        let task = Task { try await requests.send(Shop.all) }
        await transport.clock.waitForSleepers(count: 1)
        transport.clock.advance(by: .seconds(2))
        #expect(try await task.value == [ada])
    }

    @Test("What was sent is verified with its order and its duplicates")
    func order() async throws {
        transport.stub(Shop.all, with: [ada])
        transport.stub(Shop.get("a"), with: ada)
        _ = try await requests.send(Shop.all)
        _ = try await requests.send(Shop.get("a"))
        _ = try await requests.send(Shop.get("a"))
        try transport.expect(sent: [Shop.all, Shop.get("a"), Shop.get("a")])
        let wrong: [[any TypedRequest]] = [
            [Shop.get("a"), Shop.all, Shop.get("a")], [Shop.all, Shop.get("a")], [],
            [Shop.all, Shop.get("a"), Shop.get("a"), Shop.all], [Shop.all, Shop.get("b"), Shop.get("a")],
        ]
        for expected in wrong {
            #expect(throws: RequestMismatch.self) { try transport.expect(sent: expected) }
        }
    }

    @Test("The body, the query and the fields of a definition make a difference")
    func parts() async throws {
        transport.stub(Shop.create(ada), with: ada)
        await #expect(throws: RequestFailure.self) { try await requests.send(Shop.create(eva)) }
        await #expect(throws: RequestFailure.self) { try await requests.send(Shop.create(ada).addingQuery("x", 1)) }
        #expect(try await requests.send(Shop.create(ada).settingHeader("X-More", "1")) == ada)
        let bytes = [Data([0, 0xff]), Data("base64:AP8=".utf8), Data("AP8=".utf8)]
        for data in bytes {
            let transport = ScriptedTransport()
            transport.stub(Shop.send(data))
            let requests = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://env.example/"), transport: transport)
            for other in bytes {
                if other == data {
                    try await requests.send(Shop.send(other))
                } else {
                    await #expect(throws: RequestFailure.self) { try await requests.send(Shop.send(other)) }
                }
            }
        }
    }

    @Test("A definition without a base URL matches below any base, or exactly below the given one")
    func environment() async throws {
        let free = APIRequest<Shop.User>(.get, "users/7")
        let exact = try RequestURL("https://env.example/api")
        transport.stub(free, with: ada)
        #expect(try await requests.send(free) == ada)
        try transport.expect(sent: [free])
        try transport.expect(sent: [free], under: exact)
        #expect(throws: RequestMismatch.self) {
            try transport.expect(sent: [free], under: RequestURL("https://env.example/"))
        }
        let other = ScriptedTransport()
        other.stub(free, with: ada, under: try RequestURL("https://env.example/v2/"))
        let wrong = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://env.example/api"), transport: other)
        await #expect(throws: RequestFailure.self) { try await wrong.send(free) }
        #expect(other.unexpected.count == 1)
    }

    @Test(
        "A definition matches only requests with its scheme, host and port",
        arguments: ["http://shop.example/", "https://shop.example:8443/", "https://other.example/"])
    func origin(_ base: String) async throws {
        let request = APIRequest<Shop.User>(.get, url: "https://shop.example:443/").adding("users")
        transport.stub(request, with: ada)
        #expect(try await requests.send(request) == ada)
        await #expect(throws: RequestFailure.self) { try await requests.send(request.based(on: RequestBase(base))) }
        #expect(transport.unexpected.count == 1)
        #expect(transport.unexpected.first?.description.contains("origin: expected https://shop.example, was") == true)
    }

    @Test("A definition that cannot be built is reported")
    func invalid() throws {
        transport.stub(Shop.get(".."), with: ada)
        #expect(transport.problems.count >= 1)
        #expect(transport.problems.contains { $0.contains("..") })
        #expect(throws: RequestMismatch.self) { try transport.verify() }
        #expect(throws: RequestMismatch.self) { try transport.expect(sent: [Shop.get("..")]) }
        let whole = ScriptedTransport()
        whole.stub(APIRequest<Void>(.get))
        #expect(!whole.problems.isEmpty)
    }

    @Test("An asterisk in a component is literal", arguments: ["*", "**"])
    func literal(_ text: String) async throws {
        transport.stub(Shop.get(text), with: ada)
        #expect(try await requests.send(Shop.get(text)) == ada)
        await #expect(throws: RequestFailure.self) { try await requests.send(Shop.get("x")) }
    }
}
