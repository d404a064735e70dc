import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import Roster

@Suite("Team list")
struct TeamListTests {
    let transport = ScriptedTransport()

    func makeTeams() throws -> TeamList {
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
        return TeamList(requests: requests, authorization: requests)
    }

    @Test("After signing in, the teams are listed with their members")
    func lines() async throws {
        let signIn = RosterAPI.Sessions.open(user: "ada", password: "secret")
        transport.stub(signIn, with: Session(token: "abc"), status: .created)
        transport.stub(RosterAPI.Teams.getAll, with: [Team(id: 1, name: "Red"), Team(id: 2, name: "Blue")])
        transport.stub(RosterAPI.Teams.members(of: 1), with: [Member(name: "Ada"), Member(name: "Grace")])
        transport.stub(RosterAPI.Teams.members(of: 2), with: [Member(name: "Alan")])

        let teams = try makeTeams()
        try await teams.signIn(user: "ada", password: "secret")
        #expect(try await teams.lines() == ["Red: Ada, Grace", "Blue: Alan"])

        try transport.expect(sent: [
            signIn, RosterAPI.Teams.getAll, RosterAPI.Teams.members(of: 1), RosterAPI.Teams.members(of: 2),
        ])
        #expect(transport.requests[1].headerFields[.authorization] == "Bearer abc")
    }

    @Test("A wrong password fails with the problem that the server describes")
    func wrongPassword() async throws {
        let signIn = RosterAPI.Sessions.open(user: "ada", password: "wrong")
        transport.stub(signIn, status: .unauthorized, error: Problem(title: "The password is wrong."))

        let teams = try makeTeams()
        let failure = await #expect(throws: RequestFailure.self) {
            try await teams.signIn(user: "ada", password: "wrong")
        }
        #expect(failure?.status == .unauthorized)
        #expect(failure?.errorModel(as: Problem.self)?.title == "The password is wrong.")
    }
}
