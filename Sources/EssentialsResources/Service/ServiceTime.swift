import EssentialsHTTP

/// The clock of a service behind one reference, so that states that measure their age are cheap to copy.
@usableFromInline
final class ServiceTime: Sendable {
    let clock: RequestClock

    init(_ clock: RequestClock) { self.clock = clock }

    /// The monotonic time.
    @usableFromInline
    var now: Duration { clock.now }
}
