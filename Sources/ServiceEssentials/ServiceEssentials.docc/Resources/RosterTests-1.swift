import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import Roster

@Suite("Roster")
struct RosterTests {
    @Test("The names of the administrators are sorted")
    func names() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users", query: ["role": "admin"])
            .answer(json: [User(id: 1, name: "Grace"), User(id: 2, name: "Ada")]).expected()
        let users = ServerUserList(
            requests: HTTPDataRequestService(
                environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport))

        #expect(try await users.names() == ["Ada", "Grace"])
        #expect(transport.problems == [])
    }
}
