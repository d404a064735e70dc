internal import EssentialsRequests
internal import FoundationEssentials

/// Responds to each request with what a closure returns.
struct AnsweringTransport: Transport {
    let answer: @Sendable (TransportRequest) async throws(RequestFailure) -> HTTPResponse

    init(_ answer: @escaping @Sendable (TransportRequest) async throws(RequestFailure) -> HTTPResponse) {
        self.answer = answer
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        TransportResponse(try await answer(request), body: ResponseBody(Data("7".utf8)))
    }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse { try await send(request) }

    func shutdown() async {}
}

extension HTTPResponse {
    /// A response with JSON.
    static func json(_ status: Status = .ok) -> HTTPResponse {
        HTTPResponse(status: status, headerFields: [.contentType: "application/json"])
    }
}

/// A service over a transport, with the base URL that all measurements use.
func service(
    over transport: any Transport, _ configuration: HTTPDataRequestService.Configuration
) throws -> HTTPDataRequestService {
    HTTPDataRequestService(
        environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
        configuration: configuration)
}
