import EssentialsHTTP
import EssentialsTools

/// One operation of a list in pages, and how many tasks wait for it.
final class PageRun: Sendable {
    typealias Outcome = Result<Bool, RequestFailure>

    private struct State {
        var waiting = 0
        /// Whether it runs to its end even if no task waits.
        var isStarted: Bool
        var isAbandoned = false
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let completion = OneShot<Outcome>()

    init(isStarted: Bool) { state = Mutex(State(isStarted: isStarted)) }

    /// Starts the work.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let task = Task { await work() }
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    func end(_ outcome: Outcome) {
        completion.provide(outcome)
        state.withLock { $0.task = nil }
    }

    /// Waits for the end, without an interest in the operation.
    nonisolated(nonsending) func ended() async { _ = await completion.valueUnlessCancelled() }

    /// Waits for the outcome. The work is cancelled when the last task has stopped waiting.
    ///
    /// - Returns: The outcome; `nil` if the work was cancelled before this task came.
    nonisolated(nonsending) func outcome() async -> Outcome? {
        let isTooLate = state.withLock { state in
            state.waiting += 1
            return state.isAbandoned
        }
        guard !isTooLate else {
            await ended()
            return Task.isCancelled ? .failure(LoadOutcome.cancelledFailure) : nil
        }
        let outcome = await completion.valueUnlessCancelled()
        let abandoned = state.withLock { state -> Task<Void, Never>? in
            state.waiting -= 1
            guard outcome == nil, state.waiting == 0, !state.isStarted else { return nil }
            state.isAbandoned = true
            return state.task
        }
        abandoned?.cancel()
        return outcome ?? .failure(LoadOutcome.cancelledFailure)
    }
}
