import ServiceEssentials

struct Team: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

struct Member: Codable, Hashable, Sendable {
    var name: String
}

/// The API of the roster's server, below the environment of the service that sends the requests.
enum RosterAPI: APIService {
    static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "roster") } }

    enum Teams: Endpoint {
        typealias Parent = RosterAPI
        static let path: RequestPath = "teams"

        static let getAll: APIRequest<[Team]> = request(.get)
        static func members(of team: Int, role: String? = nil) -> APIRequest<[Member]> {
            request(.get, "\(team)/members") {
                if let role { RequestQuery { ("role", role) } }
            }
        }
    }
}
