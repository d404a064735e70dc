import EssentialsHTTP

/// Follows redirects; the stages below send one hop.
///
/// The total deadline covers all hops, and each hop gets the remaining time. The other options apply to each hop. Up to
/// 64 KiB of a redirect's body are read and discarded, so that its connection can be reused. A body that is longer,
/// takes more than a second or is faulty is cancelled, and never fails the request.
struct RedirectStage: Stage {
    let clock: any Clock<Duration>
    let next: any Stage

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        record.deadline = SharedDeadline(of: request, clock: clock)
        var request = request
        request.unwantedBodies = record.rules.redirects.unwantedBodies
        var response = try await next.send(request, record)
        while RedirectRules.isFollowed(response.statusCode) {
            let outcome = RedirectRules.outcome(
                of: request, status: response.status, headerFields: response.headerFields,
                policy: record.rules.redirects, history: record.hops)
            guard let (following, hop) = try Self.next(outcome, after: response) else { break }
            await BodyDrain(clock: clock).drain(response.body, record.cancellation)
            record.hops.append(hop)
            request = following
            record.lastRequest = following
            if hop.leavesOrigin { record.hasLeftOrigin = true }
            let limited = try record.deadline.limited(
                request, between: "two redirects", after: "it had been redirected \(record.hops.count) times")
            response = try await next.send(limited, record)
        }
        return try await collected(response, for: request, record)
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

    /// Collects a body that was delivered as a stream because its status could have made it unwanted.
    private func collected(
        _ response: TransportResponse, for request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard !response.body.isWhole, case .collected(let limit) = request.options.delivery else { return response }
        let data = try await record.cancellation.whileReading(response.body) { body throws(RequestFailure) in
            try await body.collect(upTo: limit)
        }
        let ending = response.body.ending
        // The stream is empty if a transport that wraps another one has already read it.
        if data.isEmpty, let ending, ending.metrics.bodyBytesReceived > 0,
            !response.headerFields.contains(.contentEncoding)
        {
            throw RequestFailure(
                .invalidRequest, "The transport has already read the body of a redirect.",
                remedy: "A transport that reads a streamed body has to return a response with the bytes that it read.",
                phase: .receiving, host: request.hostText)
        }
        return TransportResponse(
            response.head, body: ResponseBody(data), metrics: ending?.metrics ?? response.metrics,
            connection: response.connection, trailerFields: ending?.trailerFields ?? response.trailerFields,
            informational: response.informational)
    }
}

extension RedirectPolicy {
    /// The bodies that following this policy leaves unread.
    var unwantedBodies: UnwantedBodies { limit == nil ? [] : .ofRedirects }
}
