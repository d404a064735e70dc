import EssentialsHTTP
import Synchronization

/// A result that is provided once, and one task that waits for it, for at most a time. A cancellation does not end the wait.
final class BoundedWait: Sendable {
    private let state = Mutex<(result: Bool?, waiter: CheckedContinuation<Bool, Never>?)>((nil, nil))

    /// Provides the result. Only the first call has an effect.
    func end(_ result: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiter.take()
        }
        waiter?.resume(returning: result)
    }

    /// The result; `false` if there is none after the time.
    func result(within time: Duration, _ clock: RequestClock) async -> Bool {
        if let known = state.withLock({ $0.result }) { return known }
        let timer = Task {
            guard (try? await clock.sleep(for: time)) != nil else { return }
            end(false)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
