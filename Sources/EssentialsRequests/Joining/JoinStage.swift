import EssentialsHTTP

/// Sends equal requests that run at the same time once, and gives each of them the outcome.
///
/// The stage is outside the redirects, so that requests share all hops and attempts. The exchange runs in a task of its
/// own: a request that is cancelled leaves its group, and the exchange ends when nobody waits for it. The status is
/// checked outside this stage, for each request by its own expectation.
final class JoinStage: Stage {
    let joins: JoinedExchanges
    let clock: RequestClock
    /// Whether interceptors receive the outcomes.
    let isJudged: Bool
    let next: RemainingStages

    init(joins: JoinedExchanges, clock: RequestClock, isJudged: Bool, next: RemainingStages) {
        self.joins = joins
        self.clock = clock
        self.isJudged = isJudged
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool {
        record.rules.joins || !request.method.isSafe
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard request.method.isSafe else {
            // Responses from before and from during the request may both be out of date afterwards.
            joins.close(request.url)
            defer { joins.close(request.url) }
            return try await next.send(request, record)
        }
        guard record.rules.joins, let key = JoinKey(request, record, isJudged: isJudged) else {
            return try await next.send(request, record)
        }
        guard !record.cancellation.isCancelled, !Task.isCancelled else { throw Self.cancelled(request) }
        switch joins.arrive(key, at: request.url) {
        case .alone: return try await next.send(request, record)
        case .lead(let seat):
            let registration = Self.raising(seat, for: request)
            defer { if let registration { request.raisablePriority?.remove(registration) } }
            start(request, record, seat)
            // The exchange has the deadline of this request.
            return try result(await joins.verdict(of: seat, within: nil, clock, record.cancellation), request, record)
        case .follow(let seat):
            record.reporter.tell(.joined)
            return try await follow(seat, request, record)
        }
    }

    /// Raises the priority of an exchange to that of a request that waits for it, now and later.
    private static func raising(
        _ seat: JoinedExchanges.Seat, for request: TransportRequest
    ) -> RaisablePriority.Registration? {
        seat.exchange.priority.raise(to: request.priority)
        return request.raisablePriority?.add { seat.exchange.priority.raise(to: $0) }
    }

    /// Begins the exchange of a group in a task of its own.
    private func start(_ request: TransportRequest, _ record: ExchangeRecord, _ seat: JoinedExchanges.Seat) {
        var request = request
        request.raisablePriority = seat.exchange.priority
        let own = ExchangeRecord(
            request, record.rules, id: record.id, environment: record.environment, submission: record.submission,
            cancellation: seat.exchange.cancellation)
        own.reporter = record.reporter
        let exchange = SharedExchange(record: own)
        let task = Task.immediate { [self, group = seat.group] in
            joins.finish(group, await exchange.run(over: next, clock))
        }
        // For stages and transports that check whether their task is cancelled.
        _ = seat.exchange.cancellation.add { task.cancel() }
    }

    private func follow(
        _ seat: JoinedExchanges.Seat, _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        let registration = Self.raising(seat, for: request)
        defer { if let registration { request.raisablePriority?.remove(registration) } }
        let total = request.options.totalTimeout?.bounded
        let start = total == nil ? .zero : clock.now
        let verdict = await joins.verdict(of: seat, within: total, clock, record.cancellation)
        guard case .finished(let outcome) = verdict, outcome.endedByDeadline else {
            return try result(verdict, request, record)
        }
        // The deadline was that of another request. This one is sent by itself, so that it cannot happen again.
        guard let total else { return try await next.send(request, record) }
        let remaining = total - (clock.now - start)
        guard remaining > .zero else { throw Self.timeout(request) }
        var limited = request
        limited.options.totalTimeout = remaining
        return try await next.send(limited, record)
    }

    private func result(
        _ verdict: JoinedExchanges.Verdict, _ request: TransportRequest, _ record: ExchangeRecord
    ) throws(RequestFailure) -> TransportResponse {
        switch verdict {
        case .finished(let outcome):
            outcome.apply(to: record)
            return try outcome.result.get()
        case .cancelled: throw Self.cancelled(request)
        case .expired: throw Self.timeout(request)
        }
    }

    private static func cancelled(_ request: TransportRequest) -> RequestFailure {
        RequestFailure(.cancelled, "The request was cancelled.", phase: .waiting, host: request.hostText)
    }

    private static func timeout(_ request: TransportRequest) -> RequestFailure {
        RequestFailure(
            .timeout,
            "The exchange that the request shares did not finish within \(request.options.totalTimeout ?? .zero).",
            phase: .waiting, host: request.hostText)
    }
}
