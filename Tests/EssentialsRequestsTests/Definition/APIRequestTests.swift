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
