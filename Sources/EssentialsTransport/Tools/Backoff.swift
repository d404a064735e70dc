/// How long a request waits before it is retried: longer after each failure, and at random, so that many clients that
/// failed at the same moment do not return at the same moment.
///
/// ```swift
/// var policy = RetryPolicy.attempts(5)
/// policy.backoff = .exponential(base: .milliseconds(100), cap: .seconds(5))
/// ```
public struct Backoff: Sendable, Hashable {
    private enum Kind: Hashable {
        case exponential
        case decorrelated
    }

    private let kind: Kind
    private let base: Duration
    private let cap: Duration

    /// A random wait between zero and an upper bound. The bound is the base before the first retry, doubles with each
    /// further one, and is never more than the cap.
    ///
    /// - Parameters:
    ///   - base: The bound before the first retry. The default is 200 milliseconds.
    ///   - cap: The largest bound. The default is 20 seconds.
    public static func exponential(base: Duration = .milliseconds(200), cap: Duration = .seconds(20)) -> Backoff {
        Backoff(kind: .exponential, base: max(.zero, base).bounded, cap: max(.zero, cap).bounded)
    }

    /// A random wait between the base and three times the previous wait, and never more than the cap. It never comes
    /// close to zero, unlike ``exponential(base:cap:)``.
    ///
    /// - Parameters:
    ///   - base: The shortest wait. The default is 200 milliseconds.
    ///   - cap: The longest wait. The default is 20 seconds.
    public static func decorrelated(base: Duration = .milliseconds(200), cap: Duration = .seconds(20)) -> Backoff {
        Backoff(kind: .decorrelated, base: max(.zero, base).bounded, cap: max(.zero, cap).bounded)
    }

    /// The wait before a retry.
    ///
    /// - Parameters:
    ///   - number: The number of the retry, from 1.
    ///   - previous: The wait before the previous retry; zero before the first one.
    ///   - fraction: A random number from 0 to 1.
    package func wait(retry number: Int, previous: Duration, fraction: Double) -> Duration {
        switch kind {
        case .exponential:
            var bound = min(base, cap)
            // Ends as soon as the cap is reached, so that no product can overflow.
            var doublings = max(0, number - 1)
            while doublings > 0, bound > .zero, cap > bound {
                bound = bound > cap / 2 ? cap : bound * 2
                doublings -= 1
            }
            return bound * fraction
        case .decorrelated:
            let lower = min(base, cap)
            let upper = min(cap, previous > cap / 3 ? cap : max(base, previous) * 3)
            return lower + (max(lower, upper) - lower) * fraction
        }
    }
}
