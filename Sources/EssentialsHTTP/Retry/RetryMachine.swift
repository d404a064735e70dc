/// Decides after each failed attempt of one hop whether the request is sent again, and when.
///
/// The machine owns no clock, lock or random source. The stage checks the origin's budget afterwards.
package struct RetryMachine: Sendable {
    /// The properties of the request that the decisions depend on.
    package struct Request: Sendable {
        let isIdempotent: Bool
        let isReplayable: Bool

        /// - Parameters:
        ///   - isIdempotent: Whether the server may process the request twice.
        ///   - isReplayable: Whether the body can be sent again.
        package init(isIdempotent: Bool, isReplayable: Bool) {
            self.isIdempotent = isIdempotent
            self.isReplayable = isReplayable
        }
    }

    /// The moment of a decision.
    package struct Moment: Sendable {
        let attempt: Int
        let elapsed: Duration
        let remaining: Duration?
        let random: UInt64

        /// - Parameters:
        ///   - attempt: The number of the attempt that failed, from 1, over all hops of the request.
        ///   - elapsed: The time since the request's first attempt began.
        ///   - remaining: The time that is left for the whole request; `nil` without a limit.
        ///   - random: Random bits.
        package init(attempt: Int, elapsed: Duration, remaining: Duration?, random: UInt64) {
            self.attempt = attempt
            self.elapsed = elapsed
            self.remaining = remaining
            self.random = random
        }

        /// Two independent numbers from 0 to 1.
        var fractions: (Double, Double) {
            (Double(random >> 32) / Double(UInt32.max), Double(random & 0xffff_ffff) / Double(UInt32.max))
        }
    }

    /// The next step of the stage.
    package enum Action: Sendable, Hashable {
        case retry(Retry)
        case stop(Stop)
    }

    /// Another attempt.
    package struct Retry: Sendable, Hashable {
        /// The wait before it.
        package var wait: Duration
        /// Whether it needs a connection that no other request has used.
        package var needsFreshConnection: Bool
        /// Whether the wait ends early when the server becomes reachable.
        package var isHastened: Bool
        /// Whether it takes a unit of the budget. A request that an open circuit refused was not sent, so sending it
        /// later adds no load.
        package var takesUnit: Bool
    }

    /// Why there is no other attempt.
    package enum Stop: Sendable, Hashable {
        /// The rules do not allow one for this outcome.
        case notRetriable
        /// The closure of the policy does not allow one.
        case decided
        /// The body cannot be read again.
        case notReplayable
        /// The attempts or the time of the policy are used up.
        case limit
        /// The server requests a longer wait than the policy allows.
        case longWait(Duration)
        /// The wait would outlast the time that is left for the request.
        case deadline
    }

    /// The largest part of a wait that is added to it at random.
    package static let addedPart = 0.1
    /// The longest time that is added to a wait.
    package static let longestAddition = Duration.seconds(1)
    /// The shortest wait for the end of another request's probe, which takes an unknown time.
    package static let probeWait = Duration.milliseconds(100)

    private let policy: RetryPolicy
    private let request: Request
    private var retriedOnce: RetryRules.Once = []
    private var retries = 0
    private var lastBackoff = Duration.zero

    package init(_ policy: RetryPolicy, _ request: Request) {
        self.policy = policy
        self.request = request
    }

    /// An attempt has failed.
    ///
    /// - Parameters:
    ///   - outcome: How it failed.
    ///   - moment: When it failed.
    ///   - decide: The closure of the policy. It gets the wait and the decision of the rules.
    package mutating func failed(
        _ outcome: RetryRules.Outcome, _ moment: Moment,
        deciding decide: (_ wait: Duration, _ isRetriable: Bool) -> RetryDecision = { _, _ in .standard }
    ) -> Action {
        let circuit = openCircuit(outcome)
        let verdict =
            circuit != nil
            ? .retried(once: [])
            : RetryRules.verdict(
                on: outcome, isIdempotent: request.isIdempotent,
                retriesInternalServerError: policy.retriesInternalServerError)
        guard verdict != .forbidden else { return .stop(.notRetriable) }
        var once: RetryRules.Once = []
        var isRetriable = false
        if case .retried(let only) = verdict {
            once = only
            isRetriable = only.isDisjoint(with: retriedOnce)
        }
        let (backoff, extra) = waits(once, moment)
        var wait = circuit.map { max(backoff, $0.timeLeft ?? Self.probeWait) } ?? backoff
        var requested: Duration?
        if case .status(_, let retryAfter?) = outcome {
            requested = retryAfter
            wait = max(backoff, retryAfter)
        }
        wait += min(wait * Self.addedPart, Self.longestAddition) * extra
        switch decide(wait, isRetriable) {
        case .standard: if !isRetriable { return .stop(.notRetriable) }
        case .stop: return .stop(.decided)
        case .retry: if !isRetriable, !request.isIdempotent { return .stop(.notRetriable) }
        case .retryAfter(let time):
            if !isRetriable, !request.isIdempotent { return .stop(.notRetriable) }
            wait = max(wait, time)
        }
        wait = wait.bounded
        guard request.isReplayable else { return .stop(.notReplayable) }
        if let requested, requested > policy.longestWait { return .stop(.longWait(requested)) }
        if let stop = limit(moment, wait) { return .stop(stop) }
        retriedOnce.formUnion(once)
        retries += 1
        lastBackoff = backoff
        return .retry(
            Retry(
                wait: wait, needsFreshConnection: RetryRules.needsFreshConnection(after: outcome),
                isHastened: policy.followsReachability && requested == nil && Self.isUnsent(outcome),
                takesUnit: circuit == nil))
    }

    /// The open circuit that refused the request, if the policy waits until it closes.
    private func openCircuit(_ outcome: RetryRules.Outcome) -> CircuitOpen? {
        guard waitsForBudget, case .failure(let failure) = outcome, failure.reason == .circuitOpen else { return nil }
        return failure.underlying as? CircuitOpen ?? CircuitOpen(timeLeft: nil)
    }

    /// Whether a retry that waits longer than planned, because the budget is empty, is still within all limits.
    package func allows(_ wait: Duration, _ moment: Moment) -> Bool { limit(moment, wait) == nil }

    /// Whether the request waits for the budget's reserve instead of failing.
    package var waitsForBudget: Bool { policy.limit == .forever }

    /// The limit that a retry would exceed; `nil` if it is within all of them.
    private func limit(_ moment: Moment, _ wait: Duration) -> Stop? {
        switch policy.limit {
        case .attempts(let count): if moment.attempt >= count { return .limit }
        case .within(let duration): if moment.elapsed + wait >= duration { return .limit }
        case .forever: break
        }
        if let remaining = moment.remaining, wait >= remaining { return .deadline }
        return nil
    }

    /// The backoff, and a random number from 0 to 1, by which the addition to the whole wait is multiplied.
    private func waits(_ once: RetryRules.Once, _ moment: Moment) -> (Duration, Double) {
        let (first, second) = moment.fractions
        guard !RetryRules.needsNoBackoff(after: once) else { return (.zero, second) }
        return (policy.backoff.wait(retry: retries + 1, previous: lastBackoff, fraction: first), second)
    }

    private static func isUnsent(_ outcome: RetryRules.Outcome) -> Bool {
        if case .failure(let failure) = outcome { failure.transmission == .unsent } else { false }
    }
}
