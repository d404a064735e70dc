import EssentialsHTTP

/// The outermost stage: it throws the failure `status` for a status that the request does not expect.
final class StatusStage: Stage {
    let next: RemainingStages

    init(next: RemainingStages) { self.next = next }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        let response = try await next.send(request, record)
        if record.rules.expectedStatus.contains(response.statusCode) { return response }
        let body = await record.cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: StatusFailure.bodyLimit)
        }
        // A cancellation may have cut the body short.
        try record.cancellation.check(host: request.hostText)
        record.keep(response)
        throw StatusFailure(record.lastRequest, record).failure(FailedResponse(head: response.head, body: body))
    }
}
