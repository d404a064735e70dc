import EssentialsTools

/// Tells one reader that something has changed. Several changes before the reader looks are one, so nothing piles up.
struct ChangeSignal: Sendable {
    private let changes = Latest<Void>(())

    /// Says that something has changed.
    func raise() { changes.put(()) }

    /// Says that nothing will change any more.
    func finish() { changes.finish() }

    /// Waits for a change. The first call returns at once.
    ///
    /// - Returns: Whether there was one; `false` at the end, and if the calling task is cancelled.
    func next() async -> Bool { await changes.next() != nil }
}

/// The signals of several readers.
final class ChangeSignals: Sendable {
    private struct State {
        var signals: [UInt64: ChangeSignal] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a signal.
    ///
    /// - Returns: The number with which it is removed.
    func add(_ signal: ChangeSignal) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.signals[state.last] = signal
            return state.last
        }
    }

    /// Removes a signal.
    func remove(_ number: UInt64) {
        let released = state.withLock { $0.signals.removeValue(forKey: number) }
        _ = consume released
    }

    /// Says to all readers that something has changed.
    func raise() {
        for signal in state.withLock({ Array($0.signals.values) }) { signal.raise() }
    }
}

/// Raises signals with each change of a resource.
final class SignalReceiver: ChangeReceiver {
    private let raise: @Sendable () -> Void
    private let end: @Sendable () -> Void

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - raise: Is called for each change.
    ///   - end: Is called when no more changes will come. It may be called twice.
    init(raise: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void = {}) {
        self.raise = raise
        self.end = end
    }

    func receive(_ change: PendingChange) { raise() }
    func finish() { end() }
}
