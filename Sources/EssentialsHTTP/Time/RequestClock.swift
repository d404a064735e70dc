import EssentialsTools

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The time and the random numbers of a service: a monotonic clock for waits and deadlines, the date for header fields
/// and cookies, and random numbers for backoff.
///
/// All stages of a service use one value, so that a test controls them together. With the test kit:
///
/// ```swift
/// let clock = ManualClock()
/// configuration.clock = clock.requestClock
/// ```
public struct RequestClock: Sendable {
    /// The continuous clock of the system, its date, and its random numbers.
    public static let system = RequestClock(ContinuousClock(), bootTime: { BootTime.system })

    /// The monotonic clock.
    public let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let sleepUntil: @Sendable (Duration) async throws -> Void
    private let currentDate: @Sendable () -> Date
    private let randomBits: @Sendable () -> UInt64
    private let currentBootTime: @Sendable () -> BootTime?

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - clock: The monotonic clock.
    ///   - date: Returns the current date.
    ///   - randomBits: Returns 64 random bits, each of them independent of all others.
    ///   - bootTime: Returns the time since the start of the machine. The default returns `nil`, which means that it is not
    ///     known: what outlives the process is then dated by `date` alone.
    public init<Monotonic: Clock<Duration>>(
        _ clock: Monotonic, date: @escaping @Sendable () -> Date = { Date() },
        randomBits: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) },
        bootTime: @escaping @Sendable () -> BootTime? = { nil }
    ) {
        self.clock = clock
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        currentDate = date
        self.randomBits = randomBits
        currentBootTime = bootTime
    }

    /// The monotonic time since this value was created.
    public var now: Duration { elapsed() }

    /// The current date, which may jump forward and back.
    public var date: Date { currentDate() }

    /// The time since the start of the machine, which other processes measure too and nobody sets; `nil` if it is not known.
    public var bootTime: BootTime? { currentBootTime() }

    /// Sleeps on the monotonic clock. A duration of zero or less returns at once.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before or during the sleep.
    public func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return }
        try await clock.sleep(for: duration.sleepable, tolerance: nil)
    }

    /// Sleeps until ``now`` reaches a time. A time that has passed returns at once.
    ///
    /// Unlike the sleep for the rest of the time, it is not late if the clock moves on between two calls.
    ///
    /// - Throws: `CancellationError` if the task is or gets cancelled.
    public func sleep(until time: Duration) async throws {
        try Task.checkCancellation()
        guard time > now else { return }
        try await sleepUntil(min(time, now + .longestSleep))
    }

    /// 64 random bits.
    public func random() -> UInt64 { randomBits() }

    /// A random duration, with equal probability for all of the range.
    public func random(in range: ClosedRange<Duration>) -> Duration {
        let fraction = Double(randomBits() >> 11) * 0x1p-53
        // Far above any wait, and far from any overflow.
        let (lower, upper) = (range.lowerBound.bounded, range.upperBound.bounded)
        return lower + (upper - lower) * fraction
    }
}
