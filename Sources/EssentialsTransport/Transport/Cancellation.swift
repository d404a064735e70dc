import EssentialsTools

/// Ends a request from outside the task that waits for it. Tokens, shutdowns and changes of the environment use it.
///
/// A request registers here each of its waits, so that ``cancel()`` ends the wait at once. A cancellation belongs to
/// one request and must not be used for another one. It can be used from any thread.
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

    /// Ends the current waits of the request and all its later ones. Further calls do nothing.
    public func cancel() {
        // Called without the lock, because a handler may resume the request, which removes its handler.
        for handler in mark() { handler() }
    }

    /// Ends several requests. A request that waits for the end of another one of them, as for a permit, does not start:
    /// all of them are cancelled before the first wait ends.
    package static func cancel(_ cancellations: [Cancellation]) {
        for handler in cancellations.flatMap({ $0.mark() }) { handler() }
    }

    /// Notes that the request is cancelled, and returns the handlers to call.
    private func mark() -> [@Sendable () -> Void] {
        state.withLock { state in
            state.isCancelled = true
            let first = state.first.take().map { [$0.handler] } ?? []
            return first + state.others.take().map(\.handler)
        }
    }

    /// Registers a handler that ends a wait. Call ``remove(_:)`` when the wait is over.
    ///
    /// - Parameter handler: Called at most once, on the thread that cancels, or at once if ``cancel()`` was called
    ///   before. It may still run after ``remove(_:)`` has returned, and must then have no effect. It must not block.
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

    /// Removes a handler.
    public func remove(_ registration: Registration) {
        // The handler is released without the lock.
        let removed = state.withLock { state -> (number: UInt32, handler: @Sendable () -> Void)? in
            if state.first?.number == registration.number { return state.first.take() }
            return state.others.firstIndex { $0.number == registration.number }.map { state.others.remove(at: $0) }
        }
        _ = removed
    }

    /// Runs work in a new task, which is cancelled by ``cancel()`` and together with the calling task.
    ///
    /// ``cancel()`` does not cancel the calling task itself, because that task may do more than this request.
    ///
    /// - Parameters:
    ///   - host: The host for the failure.
    ///   - work: The work, which starts on the calling thread.
    /// - Throws: The failure of the work. If ``cancel()`` was called or the calling task was cancelled before,
    ///   `cancelled` is thrown without running the work.
    public func runTask<Value: Sendable>(
        host: String? = nil, _ work: @escaping @Sendable () async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        try check(host: host)
        guard !Task.isCancelled else { throw RequestFailure(.cancelled, "The request was cancelled.", host: host) }
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

    /// Checks whether the request was cancelled.
    ///
    /// - Throws: `cancelled` if it was.
    public func check(host: @autoclosure () -> String? = nil) throws(RequestFailure) {
        guard isCancelled else { return }
        throw RequestFailure(.cancelled, "The request was cancelled.", host: host())
    }
}

extension Array {
    /// Empties the array and returns its elements.
    fileprivate mutating func take() -> [Element] {
        guard !isEmpty else { return [] }
        defer { self = [] }
        return self
    }
}
