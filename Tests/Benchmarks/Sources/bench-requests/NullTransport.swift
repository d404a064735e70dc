internal import EssentialsHTTP

/// Responds to every request at once with the same response, so that the transport's cost is not measured.
///
/// It can end a request by itself, as libcurl's transport can.
struct NullTransport: Transport {
    let response: TransportResponse

    init(_ response: TransportResponse) { self.response = response }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse { response }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        cancellation.remove(cancellation.add {})
        return response
    }

    func shutdown() async {}
}

/// Responds as `NullTransport` does, in a task of its own for each request, as every transport that implements one method.
struct TaskTransport: Transport {
    let transport: NullTransport

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse { transport.response }

    func shutdown() async {}
}
