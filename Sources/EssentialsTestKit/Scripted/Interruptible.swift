import EssentialsHTTP
import Synchronization

/// Runs one operation that can be ended from outside, even if it does not react to
/// cancellation. The first outcome wins.
final class Interruptible<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, RequestFailure>

    private struct State {
        var phase: RequestFailure.Phase
        var outcome: Outcome?
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
    }

    private let state: Mutex<State>
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
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome != nil
                }
                if isOver { continuation.resume() } else { start(operation) }
            }
        } onCancel: {
            cancel()
        }
        guard let outcome = state.withLock({ $0.outcome }) else {
            // Only an outcome resumes the continuation.
            throw RequestFailure(.cancelled, "The request ended without an outcome.", host: host)
        }
        return try outcome.get()
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
            if state.outcome == nil { state.task = task }
            return state.outcome != nil
        }
        if isOver { task.cancel() }
    }

    private func finish(_ outcome: (State) -> Outcome) {
        let (waiter, task) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Task<Void, Never>?) in
            guard state.outcome == nil else { return (nil, nil) }
            state.outcome = outcome(state)
            return (state.waiter.take(), state.task.take())
        }
        task?.cancel()
        waiter?.resume()
    }
}
