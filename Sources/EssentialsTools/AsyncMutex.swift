/// Lets tasks work one after the other, in the order of their calls.
package final class AsyncMutex: Sendable {
    /// The end of a wait for the mutex.
    package enum Entry: Sendable {
        /// The caller has the mutex, and must call ``AsyncMutex/leave()`` once.
        case entered
        /// The task was cancelled while it waited.
        case cancelled
        /// The maximum number of tasks is already waiting.
        case full
    }

    private struct State {
        var isHeld = false
        var lastNumber: UInt64 = 0
        /// The waiters by the numbers of their arrival.
        var waiters = Heap<UInt64, UInt64, CheckedContinuation<Entry, Never>>()
    }

    private let state = Mutex(State())
    private let maximumWaiters: Int

    /// Creates a free mutex.
    ///
    /// - Parameter maximumWaiters: The maximum number of tasks that wait. A further one is refused.
    package init(maximumWaiters: Int = .max) { self.maximumWaiters = maximumWaiters }

    /// The number of tasks that wait.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Takes the mutex. A task that finds it free takes it, even if the task is cancelled.
    package func enter() async -> Entry {
        let number = state.withLock { state -> UInt64? in
            guard state.isHeld else {
                state.isHeld = true
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return .entered }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let entry = state.withLock { state -> Entry? in
                    // If the cancellation came first, its handler has found no waiter.
                    if Task.isCancelled { return .cancelled }
                    // The mutex may have become free meanwhile.
                    guard state.isHeld else {
                        state.isHeld = true
                        return .entered
                    }
                    // Counted in the same step in which the waiter is added, so that the limit is exact.
                    guard state.waiters.count < maximumWaiters else { return .full }
                    state.waiters.set(number, at: number, continuation)
                    return nil
                }
                if let entry { continuation.resume(returning: entry) }
            }
        } onCancel: {
            state.withLock { $0.waiters.remove(number) }?.resume(returning: .cancelled)
        }
    }

    /// Passes the mutex to the task that has waited longest, or frees it.
    package func leave() {
        let next = state.withLock { state in
            let next = state.waiters.takeDue(at: .max, limit: 1).first
            if next == nil { state.isHeld = false }
            return next
        }
        next?.resume(returning: .entered)
    }
}
