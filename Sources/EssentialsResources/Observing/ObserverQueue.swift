import EssentialsTools

/// The changes that wait for one observer on another thread, in order and up to a limit.
final class ObserverQueue: Sendable {
    /// The maximum number of waiting changes. Beyond it only the newest one is kept, which counts the missed ones.
    static let maximum = 1_024

    private struct State {
        var changes = Fifo<PendingChange>()
        /// Whether a thread or task is taking changes out.
        var isRunning = false
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: Whether the caller must start a task that takes the changes out.
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
        // Content may be released here, outside the lock.
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
        // Contents may be released here, outside the lock.
        _ = consume dropped
    }
}
