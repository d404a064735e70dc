/// An instant of the clock that also counts while the system is suspended, as `ContinuousClock` does.
///
/// Its size is known when a program is compiled. That of `ContinuousClock.Instant` is not, so a type that contains one is copied
/// by calls through a table, which takes several times as long.
package struct SteadyInstant: Sendable, Hashable, Comparable {
    #if canImport(Darwin)
        private static let clock = CLOCK_MONOTONIC_RAW
    #else
        private static let clock = CLOCK_BOOTTIME
    #endif
    /// The same instant on both clocks. Of several readings the one that took the shortest time is taken, because the thread can
    /// be interrupted between two.
    private static let reference: (instant: ContinuousClock.Instant, steady: SteadyInstant) = {
        let readings = (0..<8).map { _ in (before: now, instant: ContinuousClock.now, after: now) }
        let best = readings.min { $0.after - $0.before < $1.after - $1.before } ?? (now, .now, now)
        return (best.instant, best.before + (best.after - best.before) / 2)
    }()

    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The present instant.
    package static var now: SteadyInstant {
        var time = timespec()
        clock_gettime(clock, &time)
        return SteadyInstant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// An instant of the standard library.
    package init(_ instant: ContinuousClock.Instant) {
        self = Self.reference.steady + (instant - Self.reference.instant)
    }

    /// The same instant for the standard library.
    package var instant: ContinuousClock.Instant { Self.reference.instant + (self - Self.reference.steady) }

    package static func < (one: SteadyInstant, another: SteadyInstant) -> Bool { one.nanoseconds < another.nanoseconds }

    /// The instant after a duration, which is rounded to nanoseconds.
    package static func + (instant: SteadyInstant, duration: Duration) -> SteadyInstant {
        SteadyInstant(nanoseconds: instant.nanoseconds.addingSaturated(duration.wholeNanoseconds))
    }

    package static func - (instant: SteadyInstant, duration: Duration) -> SteadyInstant { instant + (.zero - duration) }

    /// The time between two instants.
    package static func - (later: SteadyInstant, earlier: SteadyInstant) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }
}

extension Int64 {
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
