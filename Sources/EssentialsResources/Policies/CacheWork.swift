import Synchronization

/// A change of the cache that runs in a task of its own, so that neither a slow cache delays a value nor a cancelled
/// iteration loses one.
final class CacheWork: Sendable {
    private struct State {
        var isDone = false
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    private init() {}

    /// Begins a change.
    static func begin(_ change: @escaping @Sendable () async -> Void) -> CacheWork {
        let work = CacheWork()
        Task {
            await change()
            work.state.withLock { state in
                state.isDone = true
                return state.waiter.take()
            }?.resume()
        }
        return work
    }

    /// Waits for the end of the change, or for the cancellation of the calling task. Only one task may wait.
    func wait() async {
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
