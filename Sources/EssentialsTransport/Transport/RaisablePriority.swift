import EssentialsTools

/// The priority of one request, which can be raised while the request waits for its turn.
///
/// The owner of a request passes it along in `TransportRequest.raisablePriority` and calls ``raise(to:)`` when the
/// request becomes more urgent. The limits of its origin and the queue of the transport then move the request forward,
/// behind those that have the same priority already. Nothing happens to a request that runs. A priority is never lowered.
///
/// ```swift
/// let priority = RaisablePriority()
/// request.raisablePriority = priority
/// async let response = transport.send(request)
/// priority.raise(to: .interactive)          // somebody waits for the response now
/// ```
///
/// It can be used from any thread.
package final class RaisablePriority: Sendable {
    /// Identifies a handler, so that it can be removed.
    package struct Registration: Sendable {
        fileprivate let number: UInt64
    }

    private typealias Handler = @Sendable (RequestPriority) -> Void

    private struct State {
        var value: RequestPriority
        var lastNumber: UInt64 = 0
        /// The places in which the request waits, usually none or one.
        var handlers: [(number: UInt64, handler: Handler)] = []
    }

    private let state: Mutex<State>

    /// Creates a priority. The default is the lowest one, so that the priority of the request's options applies.
    package init(_ priority: RequestPriority = .background) { state = Mutex(State(value: priority)) }

    /// The highest priority so far.
    package var value: RequestPriority { state.withLock { $0.value } }

    /// Raises the priority. A priority that is not higher than the present one has no effect.
    package func raise(to priority: RequestPriority) {
        let handlers = state.withLock { state in
            guard priority > state.value else { return [] as [(number: UInt64, handler: Handler)] }
            state.value = priority
            return state.handlers
        }
        // Called without the lock, because a handler can start the request, which removes its handler.
        for handler in handlers { handler.handler(priority) }
    }

    /// Registers a handler for the time of a wait. Call ``remove(_:)`` when the wait is over.
    ///
    /// - Parameter handler: Called at once with the present value, and then with each higher one, on the thread that
    ///   raises the priority. Calls from two threads can overlap and change their order, so the handler ignores a value
    ///   that is not higher than an earlier one. It can still run after ``remove(_:)`` has returned. It must not block.
    package func add(_ handler: @escaping @Sendable (RequestPriority) -> Void) -> Registration {
        let (number, value) = state.withLock { state in
            state.lastNumber += 1
            state.handlers.append((state.lastNumber, handler))
            return (state.lastNumber, state.value)
        }
        handler(value)
        return Registration(number: number)
    }

    /// Removes a handler.
    package func remove(_ registration: Registration) {
        // The handler is released without the lock.
        let removed = state.withLock { state in
            state.handlers.firstIndex { $0.number == registration.number }.map { state.handlers.remove(at: $0) }
        }
        _ = removed
    }

    /// The number of registered handlers.
    package var handlerCount: Int { state.withLock { $0.handlers.count } }
}

extension TransportRequest {
    /// The priority of the options, or the raised one if that is higher.
    package var priority: RequestPriority {
        guard let raisablePriority else { return options.priority }
        return max(options.priority, raisablePriority.value)
    }
}
