import Hummingbird
import ServiceEssentials

struct Film: Decodable, ResponseEncodable, Sendable, Hashable {
    var id: Int
    var title: String
}

/// The films of another server, requested for one request of this server.
struct Films: Sendable {
    let requests: any DataRequestService
    let trace: TraceID

    func film(_ id: Int) async throws(RequestFailure) -> Film {
        try await requests.model(of: RequestBuilder(.get, "films/\(id)").header(TraceID.field, trace.text))
    }
}
