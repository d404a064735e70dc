import EssentialsHTTP
import EssentialsTools

/// The task of a write, which can be cancelled before it has started.
final class WriteRun<Reply: Sendable>: Sendable {
    typealias Outcome = Result<Reply, RequestFailure>

    private struct State {
        var task: Task<Outcome, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Does the work in a task, and waits for it. If the calling task is cancelled, so is the work.
    ///
    /// The task begins on the caller's thread and leaves it at its first wait, which saves a thread switch.
    nonisolated(nonsending) func outcome(of work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        let task = Task.immediate { await work() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
