import EssentialsHTTP

/// Sends a hop again after a failed attempt, as the retry policy says.
///
/// The stage is inside the redirects, so that only the failed hop is repeated: if the response to a POST was a 303,
/// only the following GET. It is outside the stages for tokens, limits, cookies and signatures, which each attempt
/// passes again.
final class RetryStage: Stage {
    private let attempts: RepeatedAttempts
    private let next: RemainingStages

    init(_ attempts: RepeatedAttempts, next: RemainingStages) {
        self.attempts = attempts
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool {
        record.rules.has { $0.retries != nil }
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let retries = record.rules.hop(request).retries else { return try await next.send(request, record) }
        if retries.measuresTime, record.retries.firstAttempt == nil { record.retries.firstAttempt = attempts.clock.now }
        // Most requests succeed at once, and copying a request costs more than all else that this stage does for them.
        var attempt =
            retries.policy.attemptTimeout == nil ? nil : RepeatedAttempts.Attempt(retries, request, record.rules)
        while true {
            var result: Result<TransportResponse, RequestFailure>
            do throws(RequestFailure) {
                let response: TransportResponse
                if let changed = attempt?.changed {
                    response = try await next.send(changed, record)
                } else {
                    response = try await next.send(request, record)
                }
                // A status that the caller has declared is a success, even if it usually leads to a retry.
                guard retries.policy.concerns(response.statusCode),
                    !record.rules.expectedStatus.declares(response.statusCode)
                else {
                    deposit(for: request, response, record)
                    return response
                }
                result = .success(response)
            } catch {
                result = .failure(error)
            }
            let failed = attempt ?? RepeatedAttempts.Attempt(retries, request, record.rules)
            attempt = try await attempts.following(failed, of: request, after: &result, record)
            guard attempt != nil else { return try result.get() }
        }
    }

    /// Deposits for a request that needed no retry, once for each origin, when it needs no further hop.
    private func deposit(for request: TransportRequest, _ response: TransportResponse, _ record: ExchangeRecord) {
        guard record.retries.count == 0, !record.rules.redirects.mayFollow(response) else { return }
        attempts.budgets.deposit(for: request.url.origin)
        guard !record.hops.isEmpty else { return }
        for origin in Set(record.hops.map(\.from.origin)) where origin != request.url.origin {
            attempts.budgets.deposit(for: origin)
        }
    }
}

extension RetryPolicy {
    /// Whether a response with this status may be retried under the policy.
    func concerns(_ status: Int) -> Bool {
        guard status >= 400 else { return false }
        return RetryRules.isRetried(status) || status == 500 && retriesInternalServerError || hasDecider
    }
}
