import ServiceEssentials

struct Team: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

struct Member: Codable, Hashable, Sendable {
    var name: String
}

struct Session: Codable, Hashable, Sendable {
    var token: String
}

struct Problem: Codable, Hashable, Sendable {
    var title: String
}

/// The API of the roster's server, below the environment of the service that sends the requests.
enum RosterAPI: APIService {
    static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "roster") } }
    static let errorModel = Problem.self

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

    enum Sessions: Endpoint {
        typealias Parent = RosterAPI
        static let path: RequestPath = "sessions"

        static func open(user: String, password: String) -> APIRequest<Session> {
            request(.post) { RequestHeader.authorization(.basic(user: user, password: password)) }
        }
    }
}
