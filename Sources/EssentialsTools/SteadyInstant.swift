/// An instant of the continuous clock.
///
/// Its size is known when a program is compiled. That of `ContinuousClock.Instant` is not, so a type that contains one is copied
/// by calls through a table, which takes several times as long.
package struct SteadyInstant: Sendable, Hashable, Comparable {
    private static let reference = ContinuousClock.now
    private let sinceReference: Duration

    /// The present instant.
    package static var now: SteadyInstant { SteadyInstant(.now) }

    /// The instant of the standard library.
    package init(_ instant: ContinuousClock.Instant) { sinceReference = instant - Self.reference }

    private init(sinceReference: Duration) { self.sinceReference = sinceReference }

    /// The same instant for the standard library.
    package var instant: ContinuousClock.Instant { Self.reference + sinceReference }

    package static func < (one: SteadyInstant, another: SteadyInstant) -> Bool {
        one.sinceReference < another.sinceReference
    }

    package static func + (instant: SteadyInstant, duration: Duration) -> SteadyInstant {
        SteadyInstant(sinceReference: instant.sinceReference + duration)
    }

    package static func - (instant: SteadyInstant, duration: Duration) -> SteadyInstant { instant + (.zero - duration) }

    /// The time between two instants.
    package static func - (later: SteadyInstant, earlier: SteadyInstant) -> Duration {
        later.sinceReference - earlier.sinceReference
    }
}
