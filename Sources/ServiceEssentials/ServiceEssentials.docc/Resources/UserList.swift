import ServiceEssentials

struct User: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

/// The users of the server, as the rest of the program sees them.
protocol UserList: Sendable {
    func names() async throws(RequestFailure) -> [String]
}

struct ServerUserList: UserList {
    let requests: any DataRequestService

    func names() async throws(RequestFailure) -> [String] {
        let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
        return users.map(\.name).sorted()
    }
}
