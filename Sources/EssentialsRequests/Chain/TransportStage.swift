import EssentialsHTTP

/// The innermost stage: it passes each attempt to the transport.
struct TransportStage: Stage {
    let transport: any Transport

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        try record.cancellation.check(host: request.hostText)
        record.attempts += 1
        // A reference to the same fields, so this costs no allocation.
        record.sentFields = request.headerFields
        return try await transport.send(request, cancellation: record.cancellation)
    }
}
