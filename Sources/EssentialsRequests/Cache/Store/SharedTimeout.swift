import EssentialsHTTP
import EssentialsTools

/// Ends waits after the same time, with one sleeping task for all of them.
final class SharedTimeout: Sendable {
    private struct State {
        /// The waits in the order of their ends. One that has ended earlier leaves when it is the first one.
        var waits = Fifo<(end: Duration, signal: OneShot<Void>)>()
        var isSleeping = false

        /// Removes the first waits that are over or have ended, and returns their signals.
        mutating func popEnded(at now: Duration) -> [OneShot<Void>] {
            var ended: [OneShot<Void>] = []
            while let first = waits.first, first.end <= now || first.signal.isProvided {
                _ = waits.popFirst()
                ended.append(first.signal)
            }
            return ended
        }
    }

    private let limit: Duration
    private let clock: RequestClock
    private let state = Mutex(State())

    init(_ limit: Duration, _ clock: RequestClock) { (self.limit, self.clock) = (limit, clock) }

    /// Provides a signal when the time is over, unless something else has provided it.
    func add(_ signal: OneShot<Void>) {
        let end = clock.now + limit
        let begins = state.withLock { state in
            while state.waits.first?.signal.isProvided == true { _ = state.waits.popFirst() }
            state.waits.append((end, signal))
            defer { state.isSleeping = true }
            return !state.isSleeping
        }
        if begins { Task.detached { [self] in await run(end) } }
    }

    /// Sleeps until the end of the first wait, as long as there is one.
    private func run(_ first: Duration) async {
        var next: Duration? = first
        while let end = next {
            try? await clock.sleep(until: end)
            let (ended, following) = state.withLock { state in
                let ended = state.popEnded(at: clock.now)
                state.isSleeping = !state.waits.isEmpty
                return (ended, state.waits.first?.end)
            }
            for signal in ended { signal.provide(()) }
            next = following
        }
    }
}
