import EssentialsHTTP

/// The innermost stage: it passes each attempt to the transport.
final class TransportStage: Stage {
    let transport: any Transport
    /// Dates attempts for the response cache.
    private let clock: RequestClock

    init(transport: any Transport, clock: RequestClock = .system) { (self.transport, self.clock) = (transport, clock) }

    @inline(__always)  // Every request enters the stage, and needs one frame less.
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        try record.cancellation.check(host: request.hostText)
        try record.submission.check(request)
        record.attempts += 1
        if let time = record.attemptTime { time.moment = clock.moment }
        // A reference to the same fields, so this costs no allocation.
        record.sentFields = request.headerFields
        if record.rules.downloadProgress != nil, case .collected(let limit) = request.options.delivery {
            return try await reported(request, record) { request async throws(RequestFailure) in
                try await collect(request, upTo: limit, record)
            }
        }
        guard !record.reporter.isOn else {
            return try await reported(request, record) { request async throws(RequestFailure) in
                try await transport.send(request, cancellation: record.cancellation)
            }
        }
        return try await transport.send(request, cancellation: record.cancellation)
    }

    /// Reports an attempt.
    private func reported(
        _ request: TransportRequest, _ record: ExchangeRecord,
        _ send: (_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse
    ) async throws(RequestFailure) -> TransportResponse {
        record.reporter.sends(request)
        do throws(RequestFailure) {
            let response = try await send(request)
            record.reporter.responds(response)
            return response
        } catch {
            record.reporter.attemptFailed(error)
            throw error
        }
    }

    /// Collects the body here instead of in the transport, so that its progress can be reported. The stages above see
    /// the same response and the same failures.
    private func collect(
        _ request: TransportRequest, upTo limit: Int, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        var streamed = request
        streamed.options.delivery = .streamed
        let response = try await transport.send(streamed, cancellation: record.cancellation)
        guard !request.unwantedBodies.includes(status: response.statusCode) else { return response }
        return try await response.collected(upTo: limit, for: request, record)
    }
}
