import Synchronization

/// The changes that wait for one observer on another thread, in order and up to a limit.
final class Mailbox: Sendable {
    /// The maximum number of changes that wait. Beyond it only the newest is kept, and counts the missed ones.
    static let maximum = 1_024

    private struct State {
        var changes = PendingQueue()
        /// Whether somebody takes changes out.
        var isRunning = false
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds a change.
    ///
    /// - Returns: Whether the caller has to start somebody who takes the changes out.
    func post(_ change: PendingChange) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            if state.changes.count >= Self.maximum, let last = state.changes.last {
                var newest = change
                newest.missed += last.missed + 1
                state.changes.replaceLast(with: newest)
            } else {
                state.changes.append(change)
            }
            defer { state.isRunning = true }
            return !state.isRunning
        }
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
        state.withLock { state in
            state.isClosed = true
            state.changes = PendingQueue()
        }
    }
}
