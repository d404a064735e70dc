/// Notifies one reader that something has changed. All changes before the reader's next look are one signal, so signals
/// do not pile up.
package struct ChangeSignal: Sendable {
    private let changes = Latest<Void>(())

    package init() {}

    /// Reports a change.
    package func raise() { changes.put(()) }

    /// Reports that there are no further changes.
    package func finish() { changes.finish() }

    /// Waits for a change. The first call returns at once.
    ///
    /// - Returns: Whether there was a change; `false` at the end, or if the calling task is cancelled.
    package func next() async -> Bool { await changes.next() != nil }
}

/// The signals of several readers.
package final class ChangeSignals: Sendable {
    private struct State {
        var signals: [UInt64: ChangeSignal] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a signal.
    ///
    /// - Returns: The number for removing the signal.
    package func add(_ signal: ChangeSignal) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.signals[state.last] = signal
            return state.last
        }
    }

    /// Removes a signal.
    package func remove(_ number: UInt64) {
        let released = state.withLock { $0.signals.removeValue(forKey: number) }
        _ = consume released
    }

    /// Adds a signal until the place is released.
    package func place(for signal: ChangeSignal) -> Place {
        let number = add(signal)
        return Place { self.remove(number) }
    }

    /// Reports a change to all readers.
    package func raise() {
        for signal in state.withLock({ Array($0.signals.values) }) { signal.raise() }
    }
}
