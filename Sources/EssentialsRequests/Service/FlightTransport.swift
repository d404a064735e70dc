import EssentialsHTTP

/// The transport of one request in flight: each hop is a step of it, and streamed bodies end with the service too.
struct FlightTransport: Transport {
    let transport: any Transport
    /// The same, if it can be told to end a request.
    let cancellable: (any CancellableTransport)?
    let flight: Flight
    let inFlight: RequestsInFlight

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        let response: TransportResponse
        if let cancellable {
            try flight.checkGoesOn(host: request.hostText)
            defer { flight.detach() }
            response = try await cancellable.send(request) { flight.attach($0) }
        } else {
            response = try await flight.step(host: request.url.origin.host) {
                [transport] () throws(RequestFailure) in try await transport.send(request)
            }
        }
        return tracked(response, to: request)
    }

    /// A response whose body, if that is a stream, ends with the service.
    func tracked(_ response: TransportResponse, to request: TransportRequest) -> TransportResponse {
        guard case .stream(let source) = response.body.content else { return response }
        var response = response
        response.body = ResponseBody(
            source: TrackedBody(
                source, inFlight, environment: flight.environment, finishes: flight.finishes,
                host: request.url.origin.host.text))
        return response
    }

    func shutdown() async { await transport.shutdown() }
}
