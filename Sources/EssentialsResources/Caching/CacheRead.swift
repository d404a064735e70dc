import EssentialsHTTP
import Synchronization

/// Whether the caches of a resource were asked for its entity.
enum CacheReading: UInt8, Sendable {
    case notBegun, running, ended
}

/// One reading of the caches of a resource, for which loads wait a short time.
final class CacheRead: Sendable {
    /// How long a load waits for an entity before it goes to the network.
    static let patience = Duration.milliseconds(250)

    private struct State {
        var hasEnded = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Those whose wait was over before they had a continuation.
        var departed: Set<UInt64> = []
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The reading has ended, with an entity or without one.
    func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the end, at most for ``patience``, or until the task is cancelled.
    func wait(_ clock: RequestClock) async {
        let id = state.withLock { state -> UInt64? in
            state.lastWaiter += 1
            return state.hasEnded ? nil : state.lastWaiter
        }
        guard let id else { return }
        let timer = Task {
            try? await clock.sleep(for: Self.patience)
            leave(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasEnded || state.departed.remove(id) != nil { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            leave(id)
        }
        timer.cancel()
    }

    private func leave(_ id: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.hasEnded else { return nil }
            if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
            state.departed.insert(id)
            return nil
        }
        waiter?.resume()
    }
}
