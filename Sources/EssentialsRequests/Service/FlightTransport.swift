import EssentialsHTTP

/// The transport of one request in flight: each hop is a step of it, and streamed bodies end with the service too.
struct FlightTransport: Transport {
    let transport: any Transport
    /// The same, if it can be told to end a request.
    let cancellable: (any CancellableTransport)?
    let flight: Flight
    let inFlight: RequestsInFlight

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        let host = request.url.origin.host.text
        var response: TransportResponse
        if let cancellable {
            response = try await flight.send(request, through: cancellable)
        } else {
            response = try await flight.step(host: host) { [transport] () throws(RequestFailure) in
                try await transport.send(request)
            }
        }
        if case .stream(let source) = response.body.content {
            response.body = ResponseBody(
                source: TrackedBody(
                    source, inFlight, environment: flight.environment, finishes: flight.finishes, host: host))
        }
        return response
    }

    func shutdown() async { await transport.shutdown() }
}
