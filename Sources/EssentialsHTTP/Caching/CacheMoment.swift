#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A moment on the wall clock, and on the clock that counts from the start of the machine, also while it sleeps.
///
/// What passed between two moments of one start is exact, whatever happens to the date. Across starts the date counts.
///
/// ```swift
/// let stored = clock.moment
/// let passed = clock.moment.elapsed(since: stored)     // nil: unknown, so that the entry is stale
/// ```
package struct CacheMoment: Sendable, Hashable {
    /// The date by the wall clock.
    package var date: Date
    /// The time since the start of the machine; `nil` if it is unknown.
    package var boot: BootTime?

    package init(date: Date, boot: BootTime?) { (self.date, self.boot) = (date, boot) }

    /// What passed since an earlier moment; `nil` if that is unknown, so that what was stored then is stale.
    ///
    /// Within one start of the machine it is the time of the running clock. It is unknown if the wall clock is a day or more
    /// ahead of it, because a machine that was frozen does not know what it has missed. After a restart it is the time of
    /// the wall clock, and unknown if that went back, or says that a day or more has passed.
    package func elapsed(since earlier: CacheMoment) -> Duration? {
        let wall = date.timeIntervalSince(earlier.date)
        guard wall.isFinite else { return nil }
        if let boot, let start = earlier.boot, boot.boot == start.boot {
            let passed = boot.elapsed - start.elapsed
            // A division of durations would cost more than all the rest.
            return passed >= .zero && wall - Double(passed.components.seconds) < Self.day ? passed : nil
        }
        let areUnknown = boot == nil && earlier.boot == nil
        guard wall >= 0, wall < (areUnknown ? Self.longest : Self.day) else { return nil }
        let passed = Duration.seconds(wall)
        // The machine has been running since its restart, which was after the earlier moment.
        if earlier.boot != nil, let boot, passed < boot.elapsed { return nil }
        return passed
    }

    private static let day: Double = 86_400
    /// Some hundred years.
    private static let longest: Double = 0x1p34
}

extension RequestClock {
    /// The present moment.
    package var moment: CacheMoment { CacheMoment(date: date, boot: bootTime) }
}
