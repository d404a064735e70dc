import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article MovingFromSiesta")
struct MovingFromSiestaTests {
    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    /// Stands for a label.
    @MainActor final class Title {
        var texts: [String?] = []
        func show(_ text: String?) { texts.append(text) }
    }

    @MainActor
    @Test("The article on Siesta shows a service, its configuration, an observer and a load")
    func first() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users/7").answer(json: User(name: "Ada"))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let (id, title) = ("7", Title())
        // Article begins
        let service = try HTTPResourceService(
            requests: requests, environment: environment)
        try service.configure("/users/*") { $0.expiration = .seconds(300) }
        let user: Resource<User> = service.resource("users", id)
        let observation = user.observe { @MainActor change in
            title.show(change.state.content?.name)
        }
        let loaded = try await user.loadIfNeeded()
        // Article ends
        while title.texts.last != "Ada" { await Task.yield() }
        observation.cancel()
        #expect(loaded.name == "Ada")
    }
}
