import FoundationEssentials
import ServiceEssentials

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

/// A request service that answers everything with one user and touches no network.
struct CannedRequests: DataRequestService {
    let user: User

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let body = Data("{\"id\":\(user.id),\"name\":\"\(user.name)\"}".utf8)
        return DataResponse(body: body)
    }
}
