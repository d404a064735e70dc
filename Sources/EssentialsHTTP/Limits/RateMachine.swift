/// A token bucket for the requests of one origin.
///
/// The state is one moment, at which the bucket would be full if no more tokens were taken. This makes every count exact,
/// however long the machine runs.
package struct RateMachine: Sendable {
    private let interval: Duration
    private let burst: Int
    /// The time in which an empty bucket fills up.
    private let fillTime: Duration
    private var fullAt = Duration.zero

    package init(_ limit: RateLimit) {
        interval = limit.interval
        burst = limit.burst
        fillTime = limit.interval * limit.burst
    }

    /// Takes a token, and returns whether there was one.
    package mutating func take(at now: Duration) -> Bool {
        guard wait(at: now) == .zero else { return false }
        fullAt = max(fullAt, now) + interval
        return true
    }

    /// Returns a token that was taken for a request that was not sent.
    package mutating func giveBack() { fullAt -= interval }

    /// The time until there is a token; zero if there is one.
    package func wait(at now: Duration) -> Duration { max(.zero, fullAt + interval - fillTime - now) }

    /// The number of tokens in the bucket.
    package func tokens(at now: Duration) -> Int {
        guard fullAt > now else { return burst }
        let missing = (fullAt - now).attoseconds
        // A part of a missing token is a missing token.
        let count = (missing + interval.attoseconds - 1) / interval.attoseconds
        return max(0, burst - Int(clamping: count))
    }
}
