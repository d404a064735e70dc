import EssentialsTools

/// The exchanges that a transport has started and not finished: waiting requests and bodies that are being read.
final class RunningExchanges: Sendable {
    private struct State {
        var isClosed = false
        var next = 0
        var cancels: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Whether new exchanges are refused.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Stores the closure that ends an exchange, and returns its number; `nil` after ``close()``.
    func add(_ cancel: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.next += 1
            state.cancels[state.next] = cancel
            return state.next
        }
    }

    func remove(_ number: Int) { _ = state.withLock { $0.cancels.removeValue(forKey: number) } }

    /// Ends all exchanges and refuses new ones.
    func close() {
        let cancels = state.withLock { state in
            state.isClosed = true
            defer { state.cancels = [:] }
            return state.cancels
        }
        for cancel in cancels.values { cancel() }
    }
}
