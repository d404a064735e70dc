import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import Roster

@Suite("Roster")
struct RosterTests {
    let transport = ScriptedTransport()

    /// The app, with another environment and without a network.
    func makeLocator() throws -> ServiceLocator {
        let doubles = Assembly("doubles") { [transport] locator in
            try locator.register(ConstantEnvironment("https://api.test/v1/"), as: (any EnvironmentService).self)
            try locator.registerLazy((any DataRequestService).self) { locator in
                try HTTPDataRequestService(
                    environment: locator.resolve((any EnvironmentService).self), transport: transport)
            }
        }
        return try app.makeLocator(overriding: [doubles])
    }

    @Test("The names of the administrators are sorted")
    func names() async throws {
        transport.on(.get, "/v1/users", query: ["role": "admin"])
            .answer(json: [User(id: 1, name: "Grace"), User(id: 2, name: "Ada")]).expected()
        let locator = try makeLocator()

        let users = try locator.resolve((any UserList).self)
        #expect(try await users.names() == ["Ada", "Grace"])
        #expect(transport.problems == [])
        await locator.close()
    }

    @Test("A report fails with the failure of its request")
    func failure() async throws {
        transport.on(.get, "/v1/users").answer(.serviceUnavailable)
        let locator = try makeLocator()

        let failure = await #expect(throws: RequestFailure.self) { try await reportUsers(of: locator) }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.head.status == .serviceUnavailable)
        await locator.close()
    }

    @Test("Every service of the app can be built")
    func everythingCanBeBuilt() async throws {
        let locator = try makeLocator()
        let failures = await locator.validate()
        #expect(failures.isEmpty, "\(failures)")
        await locator.close()
    }
}
