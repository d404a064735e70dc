import EssentialsHTTP
import EssentialsTools

/// Runs one operation that can be ended from outside, even if it does not react to
/// cancellation. The first outcome wins.
final class Interruptible<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, RequestFailure>

    private struct State {
        var phase: RequestFailure.Phase
        var isOver = false
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let outcome = OneShot<Outcome>()
    private let host: String

    init(host: String, phase: RequestFailure.Phase) {
        self.host = host
        state = Mutex(State(phase: phase))
    }

    /// Records the operation's progress, for the failure that ends it early.
    func reached(_ phase: RequestFailure.Phase) { state.withLock { $0.phase = phase } }

    /// Ends the operation with `cancelled`, now or as soon as it starts.
    func cancel() {
        finish { state in
            .failure(RequestFailure(.cancelled, "The request was cancelled.", phase: state.phase, host: self.host))
        }
    }

    /// Runs the operation in its own task, which is cancelled when the operation is ended. It must be called only once.
    func run(
        _ operation: @escaping @Sendable () async throws(RequestFailure) -> Value
    ) async throws(RequestFailure)
        -> Value
    {
        try await withTaskCancellationHandler {
            if !state.withLock({ $0.isOver }) { start(operation) }
            return await outcome.value()
        } onCancel: {
            cancel()
        }.get()
    }

    private func start(_ operation: @escaping @Sendable () async throws(RequestFailure) -> Value) {
        let task = Task {
            let outcome: Outcome
            do throws(RequestFailure) {
                outcome = .success(try await operation())
            } catch {
                outcome = .failure(error)
            }
            finish { _ in outcome }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    private func finish(_ outcome: (State) -> Outcome) {
        let ended = state.withLock { state -> (Outcome, Task<Void, Never>?)? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return (outcome(state), state.task.take())
        }
        guard let (outcome, task) = ended else { return }
        task?.cancel()
        self.outcome.provide(outcome)
    }
}
