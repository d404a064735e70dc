import EssentialsRequests
import EssentialsTools

/// What an observer knows of the calls that run. Calls of different numbers mostly take different locks.
struct CallStates<State: Sendable>: ~Copyable, Sendable {
    private final class Part: Sendable {
        let states = Mutex<[RequestID: State]>([:])
    }

    /// The number of parts is a power of two.
    private let parts = (0..<16).map { _ in Part() }

    private func part(_ id: RequestID) -> Part { parts[Int(truncatingIfNeeded: id.number) & 15] }

    /// Sets the state of a call that has begun.
    func begin(_ id: RequestID, _ state: State) { part(id).states.withLock { $0[id] = state } }

    /// Changes the state of a call; `nil` if it has none.
    func change<Result>(_ id: RequestID, _ change: (inout State) -> Result) -> Result? {
        part(id).states.withLock { states in
            guard var state = states[id] else { return nil }
            let result = change(&state)
            states[id] = state
            return result
        }
    }

    /// Removes the state of a call that has ended.
    func end(_ id: RequestID) -> State? { part(id).states.withLock { $0.removeValue(forKey: id) } }
}
