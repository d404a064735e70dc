import ServiceEssentials

struct Team: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

/// The API of the roster's server, below the environment of the service that sends the requests.
enum RosterAPI: APIService {
    static let getTeams: APIRequest<[Team]> = request(.get, "teams")
}
