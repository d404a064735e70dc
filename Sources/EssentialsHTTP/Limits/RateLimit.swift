/// A maximum number of requests in a period, measured with a token bucket.
///
/// ```swift
/// configuration.limits.rate = RateLimit(10, per: .seconds(1))              // ten at once, then one every 100 ms
/// configuration.limits.rate = RateLimit(600, per: .seconds(60), burst: 1)  // one every 100 ms from the start
/// ```
///
/// Each request takes a token. The bucket begins full and gains tokens evenly, up to ``burst``. After a quiet time up to
/// ``burst`` requests are sent at once, so that a period can contain ``count`` plus ``burst`` of them. If the server
/// counts strictly, set the burst to 1.
public struct RateLimit: Sendable, Hashable {
    /// The maximum count and burst.
    package static let maximumCount = 1_000_000
    /// The shortest and the longest period.
    package static let periods = Duration.milliseconds(1)...Duration.seconds(366 * 86_400)

    /// The number of requests in a period.
    public let count: Int
    /// The length of a period.
    public let period: Duration
    /// The number of requests that may be sent at once after a quiet time.
    public let burst: Int

    /// Creates a rate.
    ///
    /// - Parameters:
    ///   - count: The number of requests in a period, from 1 to 1,000,000. Other values count as the nearest of these.
    ///   - period: The length of a period, from a millisecond to 366 days. Other values count as the nearest of these.
    ///   - burst: The number of requests that may be sent at once, from 1 to 1,000,000. The default is `count`.
    public init(_ count: Int, per period: Duration, burst: Int? = nil) {
        self.count = min(max(count, 1), Self.maximumCount)
        self.period = min(max(period, Self.periods.lowerBound), Self.periods.upperBound)
        self.burst = min(max(burst ?? self.count, 1), Self.maximumCount)
    }

    /// The time in which the bucket gains one token.
    package var interval: Duration { period / count }
}
