/// A user, as the API sends it.
struct User: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}

/// A user to be made, as the API takes it.
struct NewUser: Codable, Sendable {
    let name: String
}

/// Something that the API takes its time for.
struct Report: Decodable, Sendable {
    let title: String
}
