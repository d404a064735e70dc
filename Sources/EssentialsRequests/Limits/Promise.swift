package import EssentialsHTTP
import Synchronization

/// A value that is provided once, and the tasks that wait for it, which is one in most cases.
///
/// Waiting does not end when the task is cancelled. The code that cancels it provides a value for this case.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>, others: [CheckedContinuation<Value, Never>])
        case kept(Value)
    }

    private let state = Mutex(State.open)

    /// Creates a promise without a value.
    package init() {}

    /// Provides the value. Only the first call has an effect.
    package func keep(_ value: Value) {
        let before = state.withLock { state -> State in
            let before = state
            if case .kept = before { return before }
            state = .kept(value)
            return before
        }
        guard case .awaited(let first, let others) = before else { return }
        first.resume(returning: value)
        for other in others { other.resume(returning: value) }
    }

    /// The value, as soon as there is one.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                switch state {
                case .open: state = .awaited(continuation, others: [])
                case .awaited(let first, let others): state = .awaited(first, others: others + [continuation])
                case .kept(let value): return value
                }
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    /// The value; another one is provided if there is none after a time.
    package func value(within time: Duration, _ clock: RequestClock, otherwise late: Value) async -> Value {
        if case .kept(let value) = state.withLock({ $0 }) { return value }
        let timer = Task {
            guard (try? await clock.sleep(for: time)) != nil else { return }
            keep(late)
        }
        defer { timer.cancel() }
        return await value()
    }
}
