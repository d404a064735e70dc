internal import EssentialsHTTP

/// Responds to every request at once with the same response, so that the transport is not measured.
///
/// It can cancel a request, as libcurl's transport can.
struct NullTransport: CancellableTransport {
    let response: TransportResponse

    init(_ response: TransportResponse) { self.response = response }

    func send(
        _ request: TransportRequest, register: (@escaping @Sendable () -> Void) -> Void
    ) async throws(RequestFailure) -> TransportResponse {
        register {}
        return response
    }

    func shutdown() async {}
}

/// The same transport without cancellation, so that a service needs a task for each request.
struct DeafTransport: Transport {
    let transport: NullTransport

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse { transport.response }

    func shutdown() async {}
}
