import ServiceEssentials

/// Leaves out the fields that the user removed, and prints each exchange for `--verbose`.
struct ToolTransport: Transport {
    let transport: CurlTransport
    let removedFields: [HTTPField.Name]
    let log: VerboseLog?

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await send(request, cancellation: Cancellation())
    }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse {
        var request = request
        for name in removedFields { request.headerFields[fields: name] = [] }
        guard let log else { return try await transport.send(request, cancellation: cancellation) }
        log.sends(request, fields: try transport.fieldLines(of: request))
        do throws(RequestFailure) {
            let response = try await transport.send(request, cancellation: cancellation)
            log.received(response)
            return response
        } catch {
            log.failed(error)
            throw error
        }
    }

    func shutdown() async { await transport.shutdown() }
}
