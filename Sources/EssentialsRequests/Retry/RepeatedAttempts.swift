import EssentialsHTTP
import EssentialsReachability
import FoundationEssentials

/// Decides whether a failed attempt is followed by another one, and waits for it.
///
/// The stage for retries asks it about each hop, and a download asks it when its body has failed.
final class RepeatedAttempts: Sendable {
    /// The longest wait after the server has become reachable.
    static let reachableWait = Duration.seconds(1)

    let clock: RequestClock
    let budgets: RetryBudgets
    private let reachability: (any ReachabilityService)?

    init(_ configuration: HTTPDataRequestService.Configuration) {
        clock = configuration.clock
        budgets = RetryBudgets(configuration.retryBudget, clock: configuration.clock)
        reachability = configuration.reachability
    }

    /// One attempt of a hop.
    final class Attempt: Sendable {
        fileprivate let retries: HopRetries
        fileprivate let isIdempotent: Bool
        /// The request as this attempt sends it; `nil` if that is the request with which the hop began.
        let changed: TransportRequest?
        /// Decides about retries; `nil` before the first failure.
        fileprivate let machine: RetryMachine?

        fileprivate var policy: RetryPolicy { retries.policy }

        /// The first attempt of a hop.
        init(_ retries: HopRetries, _ request: TransportRequest, _ rules: ExchangeRules) {
            self.retries = retries
            isIdempotent = rules.isIdempotent ?? request.method.isIdempotent
            changed = retries.policy.attemptTimeout.map { request.limited(to: $0) }
            machine = nil
        }

        /// A later attempt.
        fileprivate init(after earlier: Attempt, _ request: TransportRequest, _ machine: RetryMachine) {
            retries = earlier.retries
            isIdempotent = earlier.isIdempotent
            changed = earlier.policy.attemptTimeout.map { request.limited(to: $0) } ?? request
            self.machine = machine
        }
    }

    // MARK: After a failure

    /// Waits, and returns the next attempt; `nil` if there is none.
    ///
    /// The result is read into memory if the wait for the budget begins. It is delivered if there is no next attempt.
    ///
    /// - Parameter request: The request with which the hop began.
    /// - Throws: The failure of the last attempt if it was a failure and there is a remark about it, and `cancelled`.
    func following(
        _ attempt: Attempt, of request: TransportRequest, after result: inout Result<TransportResponse, RequestFailure>,
        _ record: ExchangeRecord
    ) async throws(RequestFailure) -> Attempt? {
        if case .failure(let failure) = result, failure.reason == .cancelled { return nil }
        var machine =
            attempt.machine
            ?? RetryMachine(
                attempt.policy,
                RetryMachine.Request(
                    isIdempotent: attempt.isIdempotent, isReplayable: request.body.isReplayable))
        let moment = RetryMachine.Moment(
            attempt: record.retries.attempt, elapsed: record.retries.firstAttempt.map { clock.now - $0 } ?? .zero,
            remaining: record.deadline.remaining, random: clock.random())
        let failure = failure(of: result, to: request, record)
        let action = machine.failed(outcome(of: result), moment) { wait, isRetriable in
            attempt.policy.decision(
                on: RetryCandidate(
                    method: request.method, url: request.url, failure: failure,
                    attempt: record.retries.attempt, wait: wait, isRetriable: isRetriable))
        }
        guard case .retry(var retry) = action else {
            if case .stop(let stop) = action { try give(up: result, remark(on: stop), record) }
            return nil
        }
        guard try await payFor(&retry, of: request, after: &result, machine, moment, record, failure) else {
            try give(up: result, Self.emptyBudget, record)
            return nil
        }
        if case .success(let response) = result {
            await BodyDrain(clock: clock.clock).drain(response.body, record.cancellation)
        }
        try await wait(retry.wait, isHastened: retry.isHastened, host: request.hostText, record)
        record.retries.retry(after: failure)
        var changed = try record.deadline.limited(
            request, between: "two attempts", after: "\(record.retries.count) attempts had failed")
        changed.needsFreshConnection = retry.needsFreshConnection
        return Attempt(after: attempt, changed, machine)
    }

    /// Takes a unit of the budget. A request that is never given up waits for one.
    private func payFor(
        _ retry: inout RetryMachine.Retry, of request: TransportRequest,
        after result: inout Result<TransportResponse, RequestFailure>, _ machine: RetryMachine,
        _ moment: RetryMachine.Moment, _ record: ExchangeRecord, _ failure: RequestFailure
    ) async throws(RequestFailure) -> Bool {
        guard retry.takesUnit else {
            record.reporter.retries(after: failure, attempt: record.retries.attempt, in: retry.wait, budget: nil)
            return true
        }
        let origin = request.url.origin
        var waited = Duration.zero
        while true {
            let (withdrawal, left) = budgets.withdraw(for: origin)
            guard case .refused(let retryIn) = withdrawal else {
                retry.wait = max(.zero, retry.wait - waited)
                record.reporter.retries(after: failure, attempt: record.retries.attempt, in: retry.wait, budget: left)
                return true
            }
            guard machine.waitsForBudget, let retryIn else { return false }
            // Spread, because all requests of the origin wait for the same unit.
            let pause = clock.random(in: retryIn...retryIn * 2)
            guard machine.allows(waited + pause, moment) else { return false }
            try await release(&result, request, record)
            try await wait(pause, isHastened: false, host: request.hostText, record)
            waited += pause
        }
    }

    /// Reads the body of a response into memory, so that it holds no connection and no permit during a wait.
    ///
    /// A response that cannot be read to its end within the limits becomes a failure, because it cannot be delivered.
    private func release(
        _ result: inout Result<TransportResponse, RequestFailure>, _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) {
        guard case .success(var response) = result, !response.body.isWhole else { return }
        let (data, isComplete) = await BodyDrain(clock: clock.clock).keep(response.body, record.cancellation)
        try record.cancellation.check(host: request.hostText)
        if isComplete {
            response.body = ResponseBody(data)
            result = .success(response)
        } else {
            record.keep(response)
            let failed = FailedResponse(head: response.head, body: data)
            result = .failure(StatusFailure(request, record).failure(failed))
        }
    }

    private func outcome(of result: Result<TransportResponse, RequestFailure>) -> RetryRules.Outcome {
        switch result {
        case .success(let response):
            .status(response.statusCode, retryAfter: RetryAfter.delay(in: response.headerFields, now: clock.date))
        case .failure(let failure): .failure(failure)
        }
    }

    /// The failure of an attempt, without a body.
    private func failure(
        of result: Result<TransportResponse, RequestFailure>, to request: TransportRequest, _ record: ExchangeRecord
    ) -> RequestFailure {
        let number = record.retries.attempt
        switch result {
        case .success(let response):
            return StatusFailure(request, record).failure(FailedResponse(head: response.head, body: Data()))
                .changed { $0.attempt = number }
        case .failure(let failure):
            return failure.changed { content in
                content.attempt = number
                content.response = content.response.map { FailedResponse(head: $0.head, body: Data()) }
            }
        }
    }

    /// Adds a remark to the failure of the request.
    private func give(
        up result: Result<TransportResponse, RequestFailure>, _ remark: String?, _ record: ExchangeRecord
    ) throws(RequestFailure) {
        guard let remark else { return }
        switch result {
        case .success: record.remedy = remark
        case .failure(let failure):
            throw failure.changed { $0.remedy = failure.remedy.map { "\($0) \(remark)" } ?? remark }
        }
    }

    private static let emptyBudget =
        "It was not retried, because too many requests to this server have failed; try again later."

    private func remark(on stop: RetryMachine.Stop) -> String? {
        switch stop {
        case .notReplayable:
            "It was not retried, because its body cannot be read again; send it from memory or a file."
        case .longWait(let time): "The server asks for a pause of \(time); send the request again after it."
        case .notRetriable, .decided, .limit, .deadline: nil
        }
    }

    // MARK: Waiting

    /// Waits before an attempt. A cancellation of the request ends the wait at once.
    private func wait(
        _ duration: Duration, isHastened: Bool, host: String, _ record: ExchangeRecord
    ) async throws(RequestFailure) {
        guard duration > .zero else { return }
        let reachability = isHastened ? reachability : nil
        try await record.cancellation.runTask(host: host) { [clock] () throws(RequestFailure) in
            do {
                try await Self.sleep(for: duration, clock, endingWith: reachability)
            } catch {
                throw RequestFailure(
                    .cancelled, "The request was cancelled while it waited for its next attempt.", host: host)
            }
        }
    }

    /// Sleeps, and ends within a second after the server becomes reachable.
    private static func sleep(
        for wait: Duration, _ clock: RequestClock, endingWith reachability: (any ReachabilityService)?
    ) async throws {
        guard let reachability else { return try await clock.sleep(for: wait) }
        // Read before the sleep begins, so that no change is missed. The sequence begins with the present status, or with a
        // newer one.
        let present = reachability.status
        let statuses = reachability.statuses
        try await withThrowingTaskGroup { group in
            group.addTask { try await clock.sleep(for: wait) }
            group.addTask {
                var last = present
                for await status in statuses where status != last {
                    last = status
                    guard status.isReachable() else { continue }
                    // Spread, because all requests that failed see the same event.
                    return try await clock.sleep(for: clock.random(in: .zero...Self.reachableWait))
                }
                // The tracker has ended, so it reports nothing any more.
                try await clock.sleep(for: wait)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension TransportRequest {
    /// The request with a total time that is not longer than the limit of one attempt.
    fileprivate func limited(to limit: Duration) -> TransportRequest {
        var request = self
        request.options.totalTimeout = min(limit, options.totalTimeout ?? limit)
        return request
    }
}
