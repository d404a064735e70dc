import EssentialsTools

/// The operations of a process that have begun and not ended.
final class IdentityOperations: Sendable {
    private struct State {
        var last = 0
        var running: [Int: (path: String, task: Task<Void, Never>?)] = [:]
    }

    private let model: IdentityModel
    private let state = Mutex(State())

    init(_ model: IdentityModel) { self.model = model }

    /// The paths of the running operations.
    var paths: [String] { state.withLock { $0.running.values.map(\.path) } }
    var count: Int { state.withLock { $0.running.count } }

    /// Begins an operation on the calling thread, up to its first wait, so that it begins with the current identity.
    func begin(_ path: String, _ operation: @escaping @Sendable () async -> Void) {
        let number = state.withLock { state in
            state.last += 1
            state.running[state.last] = (path, nil)
            return state.last
        }
        let task = Task.immediate {
            await operation()
            _ = self.state.withLock { $0.running.removeValue(forKey: number) }
            self.model.noteActivity()
        }
        state.withLock { state in
            if state.running[number] != nil { state.running[number]?.task = task }
        }
    }

    /// Cancels one of the operations.
    func cancel(_ choose: (Int) -> Int) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.running.isEmpty else { return nil }
            return state.running[state.running.keys.sorted()[choose(state.running.count)]]?.task
        }
        task?.cancel()
    }
}
