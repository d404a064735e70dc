import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

@Suite("APIRequest")
struct APIRequestTests {
    @Test("A nested endpoint inherits the base URL with its query, the paths and the header fields")
    func inheritance() throws {
        let order = ShopAPI.Users.Orders.get(of: 7, "2026/1")
        let url = try order.url()
        #expect(
            url.description
                == "https://shop.example/v1/people/users/orders/7/2026%2F1?key=a%20b&a%2Bb=c%2Bd%26e%3Df")
        let fields = try order.headerFields
        #expect(fields["X-Client"] == "orders")
        #expect(fields[.accept] == "application/json")
    }

    @Test("A builder supports conditions and loops")
    func controlFlow() throws {
        let some = try ShopAPI.Users.find(role: "admin", tags: ["x", "y"]).url()
        #expect(some.target == "/v1/people/users/search?key=a%20b&role=admin&tag=x&tag=y")
        let all = try ShopAPI.Users.find(role: nil).url()
        #expect(all.target == "/v1/people/users/search/everyone?key=a%20b&all")
    }

    @Test("A definition is sent like every other request, and returns its model")
    func sending() async throws {
        let transport = ScriptedTransport()
        let ada = ShopAPI.User(id: 7, name: "Ada")
        transport.stub(ShopAPI.Users.get(id: 7), with: ada)
        transport.stub(ShopAPI.Users.delete(id: 7))
        transport.stub(ShopAPI.Users.create(ada), status: .conflict, error: ShopAPI.Problem(title: "taken"))
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        let user = try await requests.send(ShopAPI.Users.get(id: 7))
        #expect(user == ada)
        try await requests.send(ShopAPI.Users.delete(id: 7))
        let failure = await #expect(throws: RequestFailure.self) { try await requests.send(ShopAPI.Users.create(ada)) }
        #expect(failure?.status == .conflict)
        #expect(failure?.errorModel(as: ShopAPI.Problem.self) == ShopAPI.Problem(title: "taken"))
        #expect(failure?.request == "POST https://shop.example/v1/people/users")
        try transport.expect(sent: [
            ShopAPI.Users.get(id: 7), ShopAPI.Users.delete(id: 7), ShopAPI.Users.create(ada),
        ])
        #expect(throws: RequestMismatch.self) {
            try transport.expect(sent: [ShopAPI.Users.delete(id: 7), ShopAPI.Users.get(id: 7)])
        }
        try transport.verify()
    }
}

extension APIRequestTests {
    @Test("A link to the next page of a definition has the query of the base only once")
    func linkedPages() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/people/users").answer(
            json: [ShopAPI.User(id: 1, name: "Ada")],
            headerFields: HTTPFields(["Link": "</v1/people/users?key=a%20b&page=2>; rel=next"])
        ).thenAnswer(json: [ShopAPI.User(id: 2, name: "Grace")])
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        var names: [String] = []
        for try await user in requests.pages(of: ShopAPI.Users.getAll).items { names.append(user.name) }
        #expect(names == ["Ada", "Grace"])
        #expect(transport.requests.map(\.url.query) == ["key=a%20b", "key=a%20b&page=2"])
    }
}

extension APIRequestTests {
    @Test(
        "The status of a failure is compared by its name",
        arguments: [
            (HTTPResponse.Status.badRequest, 400), (.unauthorized, 401), (.paymentRequired, 402), (.forbidden, 403),
            (.notFound, 404), (.methodNotAllowed, 405), (.notAcceptable, 406), (.requestTimeout, 408),
            (.conflict, 409), (.gone, 410), (.preconditionFailed, 412), (.unsupportedMediaType, 415),
            (.unprocessableContent, 422), (.tooEarly, 425), (.tooManyRequests, 429), (.internalServerError, 500),
            (.badGateway, 502), (.serviceUnavailable, 503), (.gatewayTimeout, 504),
        ])
    func namedStatuses(status: HTTPResponse.Status, code: Int) async throws {
        let transport = ScriptedTransport()
        transport.stub(
            ShopAPI.Users.delete(id: 1), status: HTTPResponse.Status(code: code),
            headerFields: HTTPFields(["Retry-After": "7"]))
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        let failure = await #expect(throws: RequestFailure.self) {
            try await requests.send(ShopAPI.Users.delete(id: 1))
        }
        #expect(failure?.reason == .status)
        #expect(failure?.status == status)
        #expect(failure?.retryAfter() == .seconds(7))
    }
}

extension APIRequestTests {
    @Test("An empty array of models is sent and answered as JSON, not as bytes")
    func emptyArray() async throws {
        let transport = ScriptedTransport()
        let save: APIRequest<[ShopAPI.User]> = ShopAPI.Users.getAll.setting(RequestContent([ShopAPI.User]()))
        transport.stub(save, with: [])
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        let users = try await requests.send(save)
        #expect(users == [])
        let sent = try #require(transport.requests.first)
        #expect(sent.bodyText == "[]")
        #expect(sent.headerFields[.contentType] == "application/json; charset=utf-8")
    }

    @Test("A closure of a definition without content needs no type")
    func untypedClosure() async throws {
        let transport = ScriptedTransport()
        transport.stub(ShopAPI.Users.delete(id: 1))
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: transport)
        let isDone = await withCheckedContinuation { done in
            requests.send(ShopAPI.Users.delete(id: 1)) { result in
                done.resume(returning: (try? result.get()) != nil)
            }
        }
        #expect(isDone)
    }
}

private struct Tenant: APIService {
    let baseURL: RequestBase = "https://tenant.example/"
    var instanceProperties: RequestProperties {
        RequestHeaders { ("Authorization", "Bearer secret") }
        RequestQuery { ("key", "secret") }
    }

    enum Login: Endpoint {
        typealias Parent = Tenant
        static let path: RequestPath = "login"
        static let start: APIRequest<Void> = request(.post) {
            RequestHeaders { RequestHeader.removing("Authorization") }
            RequestQuery { ("key", nil) }
        }
    }
}

extension APIRequestTests {
    @Test("What a request removes is not sent by a value of its API either")
    func removedByRequest() throws {
        let start = Tenant().request(Tenant.Login.start)
        #expect(try start.headerFields.isEmpty)
        #expect(try start.url().query == nil)
        #expect(!String(reflecting: Tenant().context.properties.query).contains("secret"))
    }

    @Test("A failure does not name the credentials of a refused path")
    func refusedPath() async throws {
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://other.example/"), transport: ScriptedTransport())
        let failure = await #expect(throws: RequestFailure.self) {
            try await requests.get("https://ada:secret@other.example/x")
        }
        #expect(failure?.request == "GET …")
    }
}

extension APIRequestTests {
    @Test("Header fields that HTTPFields cannot hold fail instead of ending the process")
    func impossibleFields() throws {
        let path = try #require(HTTPField.Name(parsed: ":path"))
        let pseudo = RequestHeaders(RequestHeader(path, "/"))
        #expect(throws: RequestFailure.self) { try pseudo.fields }
        let many = RequestHeaders {
            for number in 0...RequestHeaders.maximum { RequestHeader.adding("X-N", "\(number)") }
        }
        let failure = #expect(throws: RequestFailure.self) { try many.fields }
        #expect(failure?.reason == .tooLarge)
        var refused = HTTPFields()
        refused["a b"] = "x"
        #expect(throws: RequestFailure.self) { try RequestHeaders(refused).fields }
    }

    @Test("Bodies that the standard codecs cannot encode are equal only to their copies")
    func unknownType() throws {
        let type = try MediaType("application/vnd.unknown")
        func save(_ id: Int) -> APIRequest<Void> {
            APIRequest(.post, "users", in: EnvironmentAPI.context)
                .setting(RequestContent(ShopAPI.User(id: id, name: "Ada"), as: type))
        }
        let one = save(1)
        let copy = one
        #expect(one == copy)
        #expect(one != save(2))
    }

    @Test("Definitions with equal bodies are equal, whatever the order of their sets is")
    func unorderedBodies() throws {
        struct Search: Codable, Sendable { var names: Set<String> }
        var definitions: Set<APIRequest<Void>> = []
        for capacity in 1...20 {
            var names = Set<String>(minimumCapacity: 8 * capacity)
            names.formUnion(["Ada", "Bob", "Eve"].shuffled())
            definitions.insert(
                APIRequest(.post, "search", in: EnvironmentAPI.context).setting(RequestContent(Search(names: names))))
        }
        #expect(definitions.count == 1)
        #expect(try definitions.first?.snapshot().body == #"{"names":["Ada","Bob","Eve"]}"#)
    }

    @Test("Several values become several query items")
    func severalValues() throws {
        #expect(try ShopAPI.status.addingQuery("tag", ["a", "b"]).url().query == "key=a%20b&tag=a&tag=b")
    }
}
