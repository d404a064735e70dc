/// Whether and how a failed request is sent again.
///
/// ```swift
/// configuration.retry = .standard                     // 3 attempts
/// configuration.retry = .attempts(5).whenReachable    // a retry follows soon after the network returns
/// request.retry = .within(.seconds(30))
/// ```
///
/// A request is retried only if that is safe:
///
/// - If nothing of it was sent, or the server refused it without processing it, it is retried whatever its method.
/// - If the server may have processed it, it is retried only if its method is idempotent (RFC 9110, 9.2.2), or if the
///   request is marked as idempotent or has an idempotency key.
/// - The statuses 408, 421, 425, 429, 502, 503 and 504 are retried, 500 only with ``retriesInternalServerError``. 429
///   says that the request was not processed. A status that the request declares as expected is a success, and is not
///   retried.
/// - Failures of trust and TLS, violations of the protocol, exceeded limits and cancellations are never retried.
/// - A body that cannot be read again is not sent again.
///
/// The wait is the larger one of the backoff and the server's `Retry-After`. A retry that cannot begin before the
/// request's `totalTimeout` is not tried. In addition, each service has a ``RetryBudget`` for each origin, so that
/// retries do not overload a server that fails.
public struct RetryPolicy: Sendable, Hashable {
    /// When a request is given up.
    public enum Limit: Sendable, Hashable {
        /// After this number of attempts, including the first one.
        case attempts(Int)
        /// When a retry would begin later than this time after the first attempt.
        case within(Duration)
        /// Only when the request is cancelled or its `totalTimeout` passes.
        case forever
    }

    /// No retries, which is the default of a service.
    public static let never = RetryPolicy(.attempts(1))
    /// Three attempts.
    public static let standard = RetryPolicy(.attempts(3))
    /// Attempts until the request succeeds, is cancelled, or fails in a way that is never retried. A request that an open
    /// circuit refuses waits until it closes.
    public static let forever = RetryPolicy(.forever)

    /// Up to this number of attempts, including the first one. A number below 1 counts as 1.
    public static func attempts(_ count: Int) -> RetryPolicy { RetryPolicy(.attempts(max(1, count))) }

    /// Retries that begin within this time after the first attempt.
    public static func within(_ duration: Duration) -> RetryPolicy { RetryPolicy(.within(duration)) }

    /// When a request is given up.
    public var limit: Limit
    /// The wait before a retry, unless the server requests a longer one. The default is exponential, from 200
    /// milliseconds to 20 seconds.
    public var backoff = Backoff.exponential()
    /// The longest `Retry-After` that is waited for. A request with a longer one is not retried, and its failure's
    /// `retryAfter()` returns the time. The default is 30 seconds.
    public var longestWait = Duration.seconds(30)
    /// The time limit of each attempt. An attempt that exceeds it fails as `timeout` and can be retried, unlike a request
    /// that exceeds its `totalTimeout`. The default is `nil`, which means no limit.
    public var attemptTimeout: Duration?
    /// Whether a response with the status 500 is retried under the rule for 502, 503 and 504. The default is `false`,
    /// because an error in a server's program usually occurs again.
    public var retriesInternalServerError = false
    /// Whether a wait after a failed connection ends within a second after the service's reachability reports a path to
    /// the server. It never makes a wait longer. The default is `false`.
    public var followsReachability = false
    private var decider: Decider?

    private init(_ limit: Limit) { self.limit = limit }

    /// The policy with ``followsReachability``.
    public var whenReachable: RetryPolicy {
        var policy = self
        policy.followsReachability = true
        return policy
    }

    /// The policy with a closure that is called after each failed attempt and may overrule the rules.
    ///
    /// ```swift
    /// let policy = RetryPolicy.standard.deciding { candidate in
    ///     candidate.failure.status == .conflict ? .retry : .standard
    /// }
    /// ```
    ///
    /// It can forbid a retry and postpone it. It can allow one that the rules do not allow, for a failure with a response
    /// or an interrupted exchange, but only if the request is idempotent and its body can be read again.
    ///
    /// - Parameter decide: Called in the task of the request. It must not block.
    public func deciding(_ decide: @escaping @Sendable (RetryCandidate) -> RetryDecision) -> RetryPolicy {
        var policy = self
        policy.decider = Decider(decide)
        return policy
    }

    /// Whether a request can be retried at all.
    package var allowsRetries: Bool { limit != .attempts(1) }

    /// The decision of the closure; `standard` if there is none.
    package func decision(on candidate: @autoclosure () -> RetryCandidate) -> RetryDecision {
        decider?.decide(candidate()) ?? .standard
    }

    package var hasDecider: Bool { decider != nil }

    /// An object, so that policies can be compared. Two policies with different closures are different.
    private final class Decider: Sendable, Hashable {
        let decide: @Sendable (RetryCandidate) -> RetryDecision

        init(_ decide: @escaping @Sendable (RetryCandidate) -> RetryDecision) { self.decide = decide }

        static func == (one: Decider, other: Decider) -> Bool { one === other }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
