internal import EssentialsHTTP

/// Answers every request at once with the same response, so that what is measured is not the transport.
struct NullTransport: Transport {
    let response: TransportResponse

    init(_ response: TransportResponse) { self.response = response }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse { response }

    func shutdown() async {}
}
