import EssentialsHTTP

/// Adds the fields of observers to each attempt.
final class ObserversStage: Stage {
    private let next: RemainingStages

    init(next: RemainingStages) { self.next = next }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard record.reporter.isOn else { return try await next.send(request, record) }
        let origin = record.environment?.baseURL.origin
        var carrying = request
        record.reporter.addFields(
            to: &carrying, isOfEnvironment: !record.hasLeftOrigin && request.url.origin == origin)
        return try await next.send(carrying, record)
    }
}
