import EssentialsTools

/// Ends waits after the same time, with one sleeping task for all of them.
final class SharedTimeout: Sendable {
    private struct State {
        /// The waits in the order of their ends. One that has ended earlier leaves when it is the first one.
        var waits = Fifo<(end: ContinuousClock.Instant, signal: OneShot<Void>)>()
        var isSleeping = false

        /// Removes the first waits that are over or have ended, and returns their signals.
        mutating func popEnded(at now: ContinuousClock.Instant) -> [OneShot<Void>] {
            var ended: [OneShot<Void>] = []
            while let first = waits.first, first.end <= now || first.signal.isProvided {
                _ = waits.popFirst()
                ended.append(first.signal)
            }
            return ended
        }
    }

    private let limit: Duration
    private let state = Mutex(State())

    init(_ limit: Duration) { self.limit = limit }

    /// Provides a signal when the time is over, unless something else has provided it.
    func add(_ signal: OneShot<Void>) {
        let end = ContinuousClock.now + limit
        let begins = state.withLock { state in
            while state.waits.first?.signal.isProvided == true { _ = state.waits.popFirst() }
            state.waits.append((end, signal))
            defer { state.isSleeping = true }
            return !state.isSleeping
        }
        if begins { Task.detached { [self] in await run(end) } }
    }

    /// Sleeps until the end of the first wait, as long as there is one.
    private func run(_ first: ContinuousClock.Instant) async {
        var next: ContinuousClock.Instant? = first
        while let end = next {
            try? await Task.sleep(until: end, clock: .continuous)
            let (ended, following) = state.withLock { state in
                let ended = state.popEnded(at: .now)
                state.isSleeping = !state.waits.isEmpty
                return (ended, state.waits.first?.end)
            }
            for signal in ended { signal.provide(()) }
            next = following
        }
    }
}
