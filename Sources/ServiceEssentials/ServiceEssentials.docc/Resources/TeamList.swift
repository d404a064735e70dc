import ServiceEssentials

/// The teams of the server, for a user who signs in.
struct TeamList: Sendable {
    let requests: any DataRequestService
    let authorization: any AuthorizationService

    /// Signs in, so that later requests carry the token of the session.
    func signIn(user: String, password: String) async throws(RequestFailure) {
        let session = try await requests.send(RosterAPI.Sessions.open(user: user, password: password))
        authorization.setAuthorization(try .bearer(session.token))
    }

    /// One line for each team, with the names of its members.
    func lines() async throws(RequestFailure) -> [String] {
        var lines: [String] = []
        for team in try await requests.send(RosterAPI.Teams.getAll) {
            let members = try await requests.send(RosterAPI.Teams.members(of: team.id))
            lines.append("\(team.name): \(members.map(\.name).joined(separator: ", "))")
        }
        return lines
    }
}
