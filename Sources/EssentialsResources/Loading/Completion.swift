import Synchronization

/// A value that is provided once, and the tasks that wait for it.
final class Completion<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [UInt64: CheckedContinuation<Value?, Never>] = [:]
        /// The waiters that were cancelled before they had a continuation.
        var departed: Set<UInt64> = []
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Provides the value. Only the first call has an effect.
    func complete(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the value. A task that is cancelled stops waiting at once, with `nil`.
    nonisolated(nonsending) func value() async -> Value? {
        let (known, id) = state.withLock { state -> (Value?, UInt64) in
            state.lastWaiter += 1
            return (state.value, state.lastWaiter)
        }
        if let known { return known }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (value, isDone) = state.withLock { state -> (Value?, Bool) in
                    if let value = state.value { return (value, true) }
                    if state.departed.remove(id) != nil { return (nil, true) }
                    state.waiters[id] = continuation
                    return (nil, false)
                }
                if isDone { continuation.resume(returning: value) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard state.value == nil else { return nil }
            if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
            state.departed.insert(id)
            return nil
        }
        waiter?.resume(returning: nil)
    }
}
