import Hummingbird
import ServiceEssentials

struct Film: Decodable, ResponseEncodable, Sendable, Hashable {
    var id: Int
    var title: String
}

/// The films of another server, requested for one request of this server.
///
/// The context of the trace is in the task, so the tracer adds it to each of them.
struct Films: Sendable {
    let requests: any DataRequestService
    let reader: Reader

    func film(_ id: Int) async throws(RequestFailure) -> Film {
        try await requests.model(
            of: RequestBuilder(.get, template: "films/{id}", ["id": id]).header(.acceptLanguage, reader.languages))
    }
}
