import EssentialsHTTP

/// The outermost stage: it throws the failure `status` for a status that the request does not expect.
struct StatusStage: Sendable {
    let next: RemainingStages

    /// Sends the prepared request of a record through all later stages.
    @inline(__always)  // Every request enters the stage, and needs one frame less.
    func send(_ record: ExchangeRecord) async throws(RequestFailure) -> TransportResponse {
        let response = try await next.send(record.request, record)
        if record.rules.expectedStatus.contains(response.statusCode) { return response }
        throw try await Self.failure(response, record)
    }

    /// - Throws: `cancelled` if the request was cancelled while the body was being read.
    private static func failure(
        _ response: TransportResponse, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> RequestFailure {
        let body = await record.cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: StatusFailure.bodyLimit)
        }
        // A cancellation may have cut the body short.
        try record.cancellation.check(host: record.request.hostText)
        record.keep(response)
        return StatusFailure(record.lastRequest, record).failure(FailedResponse(head: response.head, body: body))
    }
}
