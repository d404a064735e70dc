import Synchronization

/// A change of the cache that runs in a task of its own, so that a cancelled iteration loses no value and does not wait.
final class CacheWork: Sendable {
    private struct State {
        var isDone = false
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    private init() {}

    /// Performs a change, and waits for its end or for the cancellation of the calling task.
    static func run(_ change: @escaping @Sendable () async -> Void) async {
        let work = CacheWork()
        // Most caches need no other thread before they reply.
        Task.immediate {
            await change()
            work.state.withLock { state in
                state.isDone = true
                return state.waiter.take()
            }?.resume()
        }
        await work.wait()
    }

    private func wait() async {
        if state.withLock({ $0.isDone }) { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isDone, !state.isCancelled else { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }?.resume()
        }
    }
}
