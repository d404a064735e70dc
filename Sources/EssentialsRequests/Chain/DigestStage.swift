import EssentialsHTTP

/// Answers Digest challenges from the environment's origin (RFC 7616).
///
/// A hop is sent at most three times: without an answer or with one in advance, then with the answer to a challenge,
/// and once more if the nonce of that challenge was stale. The stage is below the redirects, so each hop has its own
/// answer, and other origins receive none. A hop that already has an `Authorization` field keeps it. If all challenges
/// are weaker than the minimum of the credentials, the request fails as `authorization`.
final class DigestStage: Stage {
    let drain: BodyDrain
    let next: RemainingStages

    init(drain: BodyDrain, next: RemainingStages) {
        self.drain = drain
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool { record.rules.digest != nil }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let session = record.rules.digest, !record.hasLeftOrigin, request.headerFields[.authorization] == nil
        else { return try await next.send(request, record) }
        // A redirect may have removed the body.
        let signed = DigestRequest(
            request.method, target: request.url.target, body: request.body.isEmpty ? .none : record.rules.body)
        var attempt = session.begin(signed)
        var response = try await next.send(session.authorized(request, attempt, signed), record)
        while response.status == .unauthorized {
            let isReplayable = request.body.isReplayable
            let following = session.next(
                after: attempt, answeredWith: response.headerFields, signed, isReplayable: isReplayable)
            guard let following else {
                if let failure = await session.weakness(of: response, to: signed, record.cancellation) { throw failure }
                record.remedy = session.remedy(for: response.headerFields, signed, isReplayable: isReplayable)
                return response
            }
            attempt = following
            record.reporter.tell(.authorized(.challenge))
            await drain.drain(response.body, record.cancellation)
            let limited = try record.deadline.limited(
                request, between: "a challenge and its answer", after: "the server had sent a challenge")
            response = try await next.send(session.authorized(limited, attempt, signed), record)
        }
        session.accepted(attempt, response)
        return response
    }
}
