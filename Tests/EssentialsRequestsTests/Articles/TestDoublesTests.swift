import EssentialsTestKit
import FoundationEssentials
import Glibc
import ServiceEssentials
import Testing

@Suite("The article TestDoubles")
struct TestDoublesTests {
    private struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    // Article begins
    struct UserList {
        let requests: any DataRequestService

        func admins() async throws -> [String] {
            let users: [User] = try await requests.get(
                "users", parameters: ["role": "admin"])
            return users.map(\.name)
        }
    }
    // Article ends

    // Article begins
    let app = Assembly("app") { locator in
        try locator.register(
            ConstantEnvironment("https://api.example.com/v1/"),
            as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self))
        }
        try locator.registerLazy(UserList.self) { locator in
            try UserList(
                requests: locator.resolve((any DataRequestService).self))
        }
    }
    // Article ends

    // Article begins
    struct OneAnswer: DataRequestService {
        let response: DataResponse
        let codecs = CodecRegistry.standard
        func send(
            _ request: DataRequest
        ) async throws(RequestFailure) -> DataResponse { response }
    }
    // Article ends

    @Test("The article on test doubles shows a script below the real service in the app's own locator")
    func scripted() async throws {
        // Article begins
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [
            ["id": 1, "name": "Ada"]
        ]).expected()

        let doubles = Assembly("doubles") { locator in
            try locator.registerLazy((any DataRequestService).self) { locator in
                try HTTPDataRequestService(
                    environment: locator.resolve((any EnvironmentService).self),
                    transport: transport)
            }
        }
        let locator = try app.makeLocator(overriding: [doubles])

        let names = try await locator.resolve(UserList.self).admins()
        #expect(names == ["Ada"])
        try transport.requests[0].expect(headerFields: [.accept: "application/json"]
        )
        #expect(transport.problems == [])
        await locator.close()
        // Article ends
    }

    @Test("The article on test doubles shows all kinds of answers in sequence")
    func answers() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)

        // Article begins
        transport.on(.post, "/v1/users", body: .json(["id": 1, "name": "Ada"]))
            .answer(.created).thenAnswer(.conflict)
        transport.on(.get, "/v1/*/picture").answer { request in
            ScriptedAnswer(text: "picture of \(request.url.path)")
        }
        transport.on(.get, "/v1/down").answer(.failure(.connection))
        // Article ends

        try await requests.post("users", body: ["id": 1, "name": "Ada"])
        let conflict = await #expect(throws: RequestFailure.self) {
            try await requests.post("users", body: ["id": 1, "name": "Ada"])
        }
        #expect(conflict?.response?.head.status == .conflict)
        #expect(try await requests.get("1/picture", as: String.self) == "picture of /v1/1/picture")
        let down = await #expect(throws: RequestFailure.self) { try await requests.get("down") }
        #expect(down?.reason == .connection)
    }

    @Test("The article on test doubles shows a timeout without a real wait")
    func time() async throws {
        // Article begins
        let clock = ManualClock()
        let transport = ScriptedTransport(clock: clock)
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"),
            transport: transport)
        transport.on(.get, "/v1/slow").answer(text: "late", after: .seconds(30))

        let task = Task {
            try await requests.send(
                RequestBuilder(.get, "slow").deadline(.seconds(5)))
        }
        _ = try await transport.request(number: 1)
        clock.advance(by: .seconds(5))
        let failure = await #expect(throws: RequestFailure.self) {
            try await task.value
        }
        #expect(failure?.reason == .timeout)
        // Article ends
    }

    @Test("The article on test doubles shows an environment that a test switches")
    func environment() async throws {
        let transport = ScriptedTransport()

        // Article begins
        let environment = try MutableEnvironment("https://one.test/v1/")
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport)
        transport.on(.get, "/v1/users").answer(json: [User]())

        requests.setAuthorization(try .bearer("t0k3n"))
        try await requests.get("users")
        try environment.set(baseURL: "https://two.test/v1/")
        try await requests.get("users")
        #expect(
            transport.requests.map(\.url.origin.host.text) == [
                "one.test", "two.test",
            ])
        try transport.requests[1].expect(absent: [.authorization])
        // Article ends

        try transport.requests[0].expect(headerNames: [.authorization])
    }

    @Test("The article on test doubles shows a reachability that a test controls")
    func reachability() async throws {
        let locator = ServiceLocator(name: "test")

        // Article begins
        let reachability = ControlledReachability(
            .unreachable(RouteError(code: ENETUNREACH)))
        try locator.register(reachability, as: (any ReachabilityService).self)

        let network = try locator.resolve((any ReachabilityService).self)
        #expect(!network.isReachable())
        reachability.set(.local)
        #expect(network.isReachable())
        // Article ends
    }

    @Test("The article on test doubles shows a double of the service itself")
    func ownDouble() async throws {
        // Article begins
        let body = Data(#"[{"id": 1, "name": "Ada"}]"#.utf8)
        let users = UserList(
            requests: OneAnswer(response: DataResponse(body: body)))
        #expect(try await users.admins() == ["Ada"])
        // Article ends
    }
}
