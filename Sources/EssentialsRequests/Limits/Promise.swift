import Synchronization

/// A value that one task waits for and another one provides, each of them once.
///
/// Waiting does not end when the task is cancelled. The code that cancels it provides a value for this case.
final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case kept(Value)
    }

    private let state = Mutex(State.open)

    /// Provides the value. Only the first call has an effect.
    func keep(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .kept(value)
                return nil
            case .awaited(let continuation):
                state = .kept(value)
                return continuation
            case .kept: return nil
            }
        }
        waiter?.resume(returning: value)
    }

    /// The value, as soon as there is one.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .kept(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
