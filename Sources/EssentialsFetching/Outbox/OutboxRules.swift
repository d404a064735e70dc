import EssentialsHTTP
import EssentialsRequests

/// Decides what happens to an entry after an attempt.
enum OutboxRules {
    enum Verdict: Sendable, Hashable {
        /// It is given up.
        case final
        /// It is tried again later, if it has attempts left.
        case again(hastened: Bool)
        /// It is tried again later. No server has received it, so the attempt does not count.
        case later(hastened: Bool)
    }

    /// Returns the verdict on a failure. An entry has an idempotency key, so the retry rules for idempotent requests
    /// apply.
    ///
    /// An entry also survives failures that only mean that it cannot be sent now.
    static func verdict(on failure: RequestFailure, retriesInternalServerError: Bool) -> Verdict {
        if failure.reason == .status { return verdict(onStatus: failure.status?.code ?? 0, retriesInternalServerError) }
        // If there is no token, even permanently, an entry waits for the next login. A cancellation does not count as a
        // failure.
        if failure.isOfThisProgram || failure.reason == .authorization { return .later(hastened: failure.isOfNetwork) }
        let verdict = RetryRules.verdict(
            on: .failure(failure), isIdempotent: true, retriesInternalServerError: retriesInternalServerError)
        guard case .retried = verdict else { return .final }
        return isUnsent(failure) ? .later(hastened: true) : .again(hastened: true)
    }

    private static func verdict(onStatus status: Int, _ retriesInternalServerError: Bool) -> Verdict {
        switch status {
        case 408, 425, 429: return .again(hastened: false)
        case 400...499: return .final
        default: break
        }
        let verdict = RetryRules.verdict(
            on: .status(status, retryAfter: nil), isIdempotent: true,
            retriesInternalServerError: retriesInternalServerError)
        if case .retried = verdict { return .again(hastened: false) }
        return .final
    }

    /// Whether no byte of the request has reached a server. Without a report of the transport, the reason decides. This
    /// is sufficient here, because a wrong guess only means that an attempt is not counted.
    private static func isUnsent(_ failure: RequestFailure) -> Bool {
        switch failure.transmission {
        case .unsent, .refused: true
        case .sent: false
        case nil: failure.reason == .nameResolution || failure.reason == .connection || failure.reason == .proxy
        }
    }
}
