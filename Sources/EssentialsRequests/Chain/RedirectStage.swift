import EssentialsHTTP

/// Follows redirects; the stages below send one hop.
///
/// The total deadline covers all hops, and each hop gets the remaining time. The other options apply to each hop. Up to
/// 64 KiB of a redirect's body are read and discarded, so that its connection can be reused. A body that is longer,
/// takes more than a second or is faulty is cancelled, and never fails the request.
final class RedirectStage: Stage {
    let clock: any Clock<Duration>
    let next: RemainingStages

    init(clock: any Clock<Duration>, next: RemainingStages) {
        self.clock = clock
        self.next = next
    }

    @inline(__always)  // Every request enters the stage, and needs one frame less.
    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        record.deadline = SharedDeadline(of: request, clock: clock)
        record.isFromCache = false
        let response = try await next.send(request, record)
        record.tellCache()
        // Most requests end here.
        if !RedirectRules.isFollowed(response.statusCode), response.body.isWhole { return response }
        return try await follow(response, to: request, record)
    }

    /// Follows the redirects that begin with a response.
    private func follow(
        _ first: TransportResponse, to request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        var (request, response) = (request, first)
        while RedirectRules.isFollowed(response.statusCode) {
            let outcome = RedirectRules.outcome(
                of: request, status: response.status, headerFields: response.headerFields,
                policy: record.rules.redirects, history: record.hops)
            guard let (following, hop) = try Self.next(outcome, after: response) else { break }
            await BodyDrain(clock: clock).drain(response.body, record.cancellation)
            record.hops.append(hop)
            record.reporter.redirected(hop)
            request = following
            record.lastRequest = following
            if hop.leavesOrigin { record.hasLeftOrigin = true }
            let limited = try record.deadline.limited(
                request, between: "two redirects", after: "it had been redirected \(record.hops.count) times")
            record.beginHop()
            response = try await next.send(limited, record)
            record.tellCache()
        }
        return try await response.collected(for: request, record)
    }

    /// The next hop, or `nil` if the response is delivered.
    private static func next(
        _ outcome: RedirectRules.Outcome, after response: TransportResponse
    ) throws(RequestFailure) -> (TransportRequest, RedirectHop)? {
        switch outcome {
        case .deliver: return nil
        case .follow(let request, let hop): return (request, hop)
        case .fail(let failure):
            if case .stream(let source) = response.body.content { source.cancel() }
            throw failure
        }
    }
}

extension ExchangeRecord {
    /// Reports what the response cache has done for a hop.
    @inline(__always)
    func tellCache() {
        if reporter.isOn, let cacheFacts { reporter.tell(.cached(cacheFacts.use)) }
    }
}

extension RedirectPolicy {
    /// Whether a response is a redirect that the policy can follow, before its limits and its decision are applied.
    func mayFollow(_ response: TransportResponse) -> Bool {
        // The fields of most responses are not read.
        limit != nil && RedirectRules.isFollowed(response.statusCode) && response.headerFields[.location] != nil
    }

    /// The same for the status and the fields of a response.
    func mayFollow(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
        limit != nil && RedirectRules.isFollowed(status.code) && fields[.location] != nil
    }
}
