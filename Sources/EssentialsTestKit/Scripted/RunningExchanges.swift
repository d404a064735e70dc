import Synchronization

/// What a transport has begun and not ended: requests that wait, and bodies that are being read.
final class RunningExchanges: Sendable {
    private struct State {
        var isClosed = false
        var next = 0
        var cancels: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Whether nothing new may begin.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Keeps what ends an exchange. Nil after ``close()``.
    func add(_ cancel: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.next += 1
            state.cancels[state.next] = cancel
            return state.next
        }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.cancels.removeValue(forKey: number) } }

    /// Ends all, and refuses what comes.
    func close() {
        let cancels = state.withLock { state in
            state.isClosed = true
            defer { state.cancels = [:] }
            return state.cancels
        }
        for cancel in cancels.values { cancel() }
    }
}
