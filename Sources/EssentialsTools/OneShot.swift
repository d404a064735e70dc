/// A value that is provided once, and the tasks that wait for it.
///
/// Tasks are resumed in the order in which they began to wait. Nothing is resumed or called under the lock.
package final class OneShot<Value: Sendable>: Sendable {
    private enum Waiter {
        case untilProvided(CheckedContinuation<Value, Never>)
        case cancellable(CheckedContinuation<Value?, Never>)

        func resume(returning value: Value) {
            switch self {
            case .untilProvided(let continuation): continuation.resume(returning: value)
            case .cancellable(let continuation): continuation.resume(returning: value)
            }
        }

        /// Ends the wait without a value. It is called only for waits that can end in this way.
        func leave() {
            if case .cancellable(let continuation) = self { continuation.resume(returning: nil) }
        }
    }

    private struct State {
        var value: Value?
        /// The waiters by the numbers of their arrival.
        var waiters = Heap<UInt64, UInt64, Waiter>()
        var lastNumber: UInt64 = 0
        var listeners: [@Sendable (Value) -> Void] = []

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())
    private let maximumWaiters: Int

    /// Creates an object without a value.
    ///
    /// - Parameter maximumWaiters: The maximum number of concurrent cancellable waits. A further one ends at once.
    package init(maximumWaiters: Int = .max) { self.maximumWaiters = maximumWaiters }

    /// The value; `nil` if it was not provided yet.
    package var current: Value? { state.withLock { $0.value } }

    /// Whether the value was provided.
    package var isProvided: Bool { state.withLock { $0.value != nil } }

    /// The number of waits.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Provides the value: resumes the waiting tasks, and then calls the listeners.
    ///
    /// - Returns: Whether this was the first call. Later calls have no effect.
    @discardableResult
    package func provide(_ value: Value) -> Bool {
        typealias Waiting = (waiters: [Waiter], listeners: [@Sendable (Value) -> Void])
        let waiting = state.withLock { state -> Waiting? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.listeners = [] }
            return (state.waiters.takeAll(), state.listeners)
        }
        guard let waiting else { return false }
        for waiter in waiting.waiters { waiter.resume(returning: value) }
        for listener in waiting.listeners { listener(value) }
        return true
    }

    /// Calls a closure with the value, immediately if it was already provided.
    package func whenProvided(_ listener: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.listeners.append(listener) }
            return state.value
        }
        if let value { listener(value) }
    }

    /// Waits for the value. The wait does not end when the task is cancelled: the code that cancels provides a value.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if state.value == nil {
                    let number = state.nextNumber()
                    state.waiters.set(number, at: number, .untilProvided(continuation))
                }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    /// Waits for the value, until the task is cancelled.
    ///
    /// - Returns: The value, even in a cancelled task; `nil` if there was none before the cancellation.
    @discardableResult
    package func valueUnlessCancelled() async -> Value? { await wait { _ in } }

    /// Waits for the value, until a time limit is reached or the task is cancelled.
    ///
    /// - Parameter limit: Returns when the limit is reached. It runs in its own task, which is cancelled at the end of
    ///   the wait.
    @discardableResult
    package func valueUnlessCancelled(before limit: @escaping @Sendable () async -> Void) async -> Value? {
        var timer: Task<Void, Never>?
        let value = await wait { number in
            timer = Task { [self] in
                await limit()
                leave(number)
            }
        }
        timer?.cancel()
        return value
    }

    /// - Parameter begin: Called with the number of the wait if the value is missing and the wait has begun.
    private func wait(_ begin: (UInt64) -> Void) async -> Value? {
        let (known, number) = state.withLock { state in (state.value, state.nextNumber()) }
        if let known { return known }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (value, waits) = state.withLock { state -> (Value?, Bool) in
                    if let value = state.value { return (value, false) }
                    // If the cancellation came first, its handler has found no waiter.
                    guard !Task.isCancelled, state.waiters.count < maximumWaiters else { return (nil, false) }
                    state.waiters.set(number, at: number, .cancellable(continuation))
                    return (nil, true)
                }
                if waits { begin(number) } else { continuation.resume(returning: value) }
            }
        } onCancel: {
            leave(number)
        }
    }

    private func leave(_ number: UInt64) { state.withLock { $0.waiters.remove(number) }?.leave() }
}
