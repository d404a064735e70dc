import EssentialsTools

/// The changes that wait for one observer on another thread, in order and up to a limit.
final class ObserverQueue: Sendable {
    /// The maximum number of changes that wait. Beyond it only the newest is kept, and counts the missed ones.
    static let maximum = 1_024

    private struct State {
        var changes = Fifo<PendingChange>()
        /// Whether somebody takes changes out.
        var isRunning = false
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: Whether the caller has to start somebody who takes the changes out.
    func post(_ change: PendingChange) -> Bool {
        let (starts, replaced) = state.withLock { state -> (Bool, PendingChange?) in
            guard !state.isClosed else { return (false, nil) }
            let replaced = state.changes.count >= Self.maximum ? state.changes.last : nil
            if let replaced {
                var newest = change
                newest.missed += replaced.missed + 1
                state.changes[state.changes.count - 1] = newest
            } else {
                state.changes.append(change)
            }
            defer { state.isRunning = true }
            return (!state.isRunning, replaced)
        }
        // Content may end here, outside the lock.
        _ = consume replaced
        return starts
    }

    /// The next change; `nil` if there is none or the observation has ended.
    func next() -> PendingChange? {
        state.withLock { state in
            guard !state.isClosed, let change = state.changes.popFirst() else {
                state.isRunning = false
                return nil
            }
            return change
        }
    }

    /// Drops all changes, because the observation has ended.
    func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { state.changes = Fifo<PendingChange>() }
            return state.changes
        }
        // Contents may end here, outside the lock.
        _ = consume dropped
    }
}
