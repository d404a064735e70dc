import EssentialsHTTP
import Testing

@Suite struct RetryRulesTests {
    private func verdict(
        _ outcome: RetryRules.Outcome, isIdempotent: Bool, _ retries500: Bool = false
    )
        -> RetryRules.Verdict
    {
        RetryRules.verdict(on: outcome, isIdempotent: isIdempotent, retriesInternalServerError: retries500)
    }

    private func isRetried(_ verdict: RetryRules.Verdict) -> Bool {
        if case .retried = verdict { true } else { false }
    }

    @Test("A status is retried for idempotent requests only, unless it says that the request was not processed")
    func statuses() {
        for status in 100...599 {
            let outcome = RetryRules.Outcome.status(status, retryAfter: nil)
            let idempotent: Set = [408, 421, 425, 429, 502, 503, 504]
            let always: Set = [421, 429]
            #expect(isRetried(verdict(outcome, isIdempotent: true)) == idempotent.contains(status), "\(status)")
            #expect(isRetried(verdict(outcome, isIdempotent: false)) == always.contains(status), "\(status)")
            #expect(verdict(outcome, isIdempotent: true) != .forbidden, "\(status)")
        }
        let error = RetryRules.Outcome.status(500, retryAfter: nil)
        #expect(isRetried(verdict(error, isIdempotent: true, true)))
        #expect(!isRetried(verdict(error, isIdempotent: false, true)))
    }

    private static let transient: [RequestFailure.Reason] = [.nameResolution, .connection, .interrupted, .timeout]

    @Test("A failure before the first byte is retried for every method, if its reason can pass")
    func unsent() {
        for reason in RequestFailure.Reason.all {
            let failure = RequestFailure(reason, "x", phase: .connect, transmission: .unsent)
            let isTransient = Self.transient.contains(reason) || reason == .proxy
            #expect(
                verdict(.failure(failure), isIdempotent: false) == (isTransient ? .retried(once: []) : .forbidden),
                "\(reason)")
        }
    }

    @Test("A failure after the first byte is retried for idempotent requests only")
    func sent() {
        for reason in Self.transient {
            for transmission in [RequestFailure.Transmission.sent, nil] {
                let failure = RequestFailure(reason, "x", phase: .waiting, transmission: transmission)
                #expect(verdict(.failure(failure), isIdempotent: true) == .retried(once: []), "\(reason)")
                #expect(verdict(.failure(failure), isIdempotent: false) == .notRetried, "\(reason)")
            }
        }
    }

    @Test("A reason alone does not say that nothing was sent")
    func reasonAlone() {
        let failure = RequestFailure(.connection, "The engine failed.", phase: .waiting)
        #expect(verdict(.failure(failure), isIdempotent: false) == .notRetried)
    }

    @Test("A request that waited too long in the queue, or that a proxy refused, is not retried")
    func notTransient() {
        let queued = RequestFailure(.timeout, "x", phase: .queue, transmission: .unsent)
        #expect(verdict(.failure(queued), isIdempotent: true) == .forbidden)
        let refused = RequestFailure(.proxy, "The proxy responded with 407.", phase: .sending, transmission: .unsent)
        #expect(verdict(.failure(refused), isIdempotent: true) == .forbidden)
    }
}
