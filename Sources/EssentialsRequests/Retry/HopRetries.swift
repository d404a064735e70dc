import EssentialsHTTP

/// The retry policy of a request's hops, as one reference, because a policy has many parts and most requests need none of
/// them.
final class HopRetries: Sendable, Equatable {
    let policy: RetryPolicy
    /// Whether the stage needs the time before the first attempt.
    let measuresTime: Bool

    init(_ policy: RetryPolicy) {
        self.policy = policy
        measuresTime = if case .within = policy.limit { true } else { false }
    }

    /// Whether both have the same effect.
    static func == (one: HopRetries, other: HopRetries) -> Bool { one === other || one.policy == other.policy }
}
