import EssentialsHTTP
import Synchronization

/// A request, or a body that is still being read, between its beginning and its end: what cancels it from outside.
///
/// A request waits in steps, each on a task of its own or in a transport that can be told to end it. What it does between
/// two of them runs on the caller's task, which nobody but the caller may cancel.
final class Flight: Sendable {
    private struct State {
        /// Nil between two steps.
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
    }

    let number: UInt64
    /// Its place among the requests in flight.
    let slot: Int
    let environment: EnvironmentSnapshot?
    let finishes: Bool
    private let state: Mutex<State>

    @inline(__always)
    init(
        _ number: UInt64, slot: Int, in environment: EnvironmentSnapshot?, finishes: Bool,
        cancel: (@Sendable () -> Void)?
    ) {
        self.number = number
        self.slot = slot
        self.environment = environment
        self.finishes = finishes
        state = Mutex(State(cancel: cancel))
    }

    /// Runs a step that waits, on a task of its own: cancelling the caller's would also end what the caller does
    /// besides.
    ///
    /// - Throws: `cancelled` when the request was ended before, and what the step throws.
    func step<Value: Sendable>(
        host: HostName?, _ work: @escaping @Sendable () async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        try checkGoesOn(host: host?.text)
        let task = Task.immediate { () async -> Result<Value, RequestFailure> in
            do throws(RequestFailure) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        attach { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        detach()
        return try result.get()
    }

    /// - Throws: `cancelled` when the request was ended before.
    @inline(__always)
    func checkGoesOn(host: @autoclosure () -> String?) throws(RequestFailure) {
        guard !state.withLock({ $0.isCancelled }) else { throw Self.ended(host: host()) }
    }

    private static func ended(host: String?) -> RequestFailure {
        RequestFailure(.cancelled, "The service ended the request.", host: host)
    }

    /// Ends the step that runs, and all that would follow. Never under another lock.
    func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel.take()
        }
        cancel?()
    }

    /// Names what cancels; called at once when that was asked for before. A transport that can be told to end a request
    /// needs no task of its own to be a step: it is cancelled by what it names, until ``detach()``.
    func attach(_ cancel: @escaping @Sendable () -> Void) {
        let cancelsNow = state.withLock { state in
            if !state.isCancelled { state.cancel = cancel }
            return state.isCancelled
        }
        if cancelsNow { cancel() }
    }

    /// What was named cancels nothing any more.
    @inline(__always)
    func detach() {
        // Freed outside of the lock.
        _ = state.withLock { $0.cancel.take() }
    }
}
