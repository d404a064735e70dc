import Synchronization

/// Ends a request from outside of the task that waits for it: what a token, a shutdown and a change of environment use.
///
/// Whatever a request waits for is registered here while it waits, so that ``cancel()`` ends the wait at once. A
/// cancellation belongs to one request and is not used again for another one. Callable from any thread.
///
/// ```swift
/// let cancellation = Cancellation()
/// Task { try await transport.send(request, cancellation: cancellation) }
/// cancellation.cancel()        // the request fails as `cancelled`
/// ```
public final class Cancellation: Sendable {
    /// Identifies a handler, so that it can be removed.
    public struct Registration: Sendable {
        fileprivate let number: UInt32
    }

    private struct State {
        var isCancelled = false
        var lastNumber: UInt32 = 0
        /// The only handler of nearly every request, kept without an array.
        var first: (number: UInt32, handler: @Sendable () -> Void)?
        var others: [(number: UInt32, handler: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    /// Creates a cancellation for one request.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends what the request waits for, and everything that it would wait for later. Further calls do nothing.
    public func cancel() {
        let (first, others) = state.withLock { state in
            state.isCancelled = true
            return (state.first.take(), state.others.take())
        }
        // Without the lock, because a handler may resume the request, which removes its handler.
        first?.handler()
        for other in others { other.handler() }
    }

    /// Registers what ends a wait. ``remove(_:)`` follows when the wait is over.
    ///
    /// - Parameter handler: Called at most once, by the thread that cancels; at once if ``cancel()`` came first. It may
    ///   still run when ``remove(_:)`` has returned, and must have no effect then. It must not block.
    public func add(_ handler: @escaping @Sendable () -> Void) -> Registration {
        let number: UInt32? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.lastNumber &+= 1
            if state.first == nil {
                state.first = (state.lastNumber, handler)
            } else {
                state.others.append((state.lastNumber, handler))
            }
            return state.lastNumber
        }
        guard let number else {
            handler()
            return Registration(number: 0)
        }
        return Registration(number: number)
    }

    /// Removes what ``add(_:)`` has registered.
    public func remove(_ registration: Registration) {
        // The handler is freed without the lock.
        let removed = state.withLock { state -> (number: UInt32, handler: @Sendable () -> Void)? in
            if state.first?.number == registration.number { return state.first.take() }
            return state.others.firstIndex { $0.number == registration.number }.map { state.others.remove(at: $0) }
        }
        _ = removed
    }

    /// Runs work in a task of its own, which ``cancel()`` and cancelling the calling task cancel. The calling task itself
    /// is not cancelled, because it may have more to do than this request.
    ///
    /// - Parameters:
    ///   - host: The host for the failure.
    ///   - work: Begins on the calling thread.
    /// - Throws: `cancelled` without running the work if ``cancel()`` came first, and what the work throws.
    public func runTask<Value: Sendable>(
        host: String? = nil, _ work: @escaping @Sendable () async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        try check(host: host)
        let task = Task.immediate { () async -> Result<Value, RequestFailure> in
            do throws(RequestFailure) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        let registration = add { task.cancel() }
        defer { remove(registration) }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Throws if the request was cancelled.
    ///
    /// - Throws: `cancelled`.
    public func check(host: @autoclosure () -> String? = nil) throws(RequestFailure) {
        guard isCancelled else { return }
        throw RequestFailure(.cancelled, "The request was cancelled.", host: host())
    }
}

extension Array {
    /// Empties the array and returns what it held.
    fileprivate mutating func take() -> [Element] {
        guard !isEmpty else { return [] }
        defer { self = [] }
        return self
    }
}
