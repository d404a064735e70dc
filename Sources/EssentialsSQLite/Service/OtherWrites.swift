#if Persistence
    import Dispatch
    import EssentialsTools

    /// Checks at regular intervals whether other processes have written, as long as the store has observers.
    final class OtherWrites: Sendable {
        /// The shortest interval.
        static let minimum = Duration.milliseconds(10)

        private struct State {
            var observers = 0
            /// Increases whenever checking ends, so that a check that is already scheduled does nothing.
            var round = 0
            /// The number of writes at the last check, as SQLite counts them; `nil` before the store is open.
            var writes: Int64?
            var looks = 0
        }

        private let interval: DispatchTimeInterval
        private let look: @Sendable () -> Int64?
        private let onWrite: @Sendable () -> Void
        private let state = Mutex(State())
        private let queue = DispatchQueue(label: "ServiceEssentials.persistence.others")

        /// - Parameters:
        ///   - interval: The time between two checks.
        ///   - look: Returns a number that changes with each write of another process; `nil` if it is unknown. It may
        ///     block.
        ///   - onWrite: Called when the number has changed.
        init(
            every interval: Duration, look: @escaping @Sendable () -> Int64?, onWrite: @escaping @Sendable () -> Void
        ) {
            let (seconds, fraction) = min(max(interval, Self.minimum), .seconds(86_400)).components
            self.interval = .nanoseconds(Int(seconds) * 1_000_000_000 + Int(fraction / 1_000_000_000))
            self.look = look
            self.onWrite = onWrite
        }

        /// The number of checks so far.
        var looks: Int { state.withLock { $0.looks } }

        /// Records the state of a store that has just been opened, so that no later write is missed.
        func begin(_ writes: Int64?) { state.withLock { $0.writes = writes } }

        /// Adds an observer. The first one starts checking at once.
        func add() {
            let round = state.withLock { state in
                state.observers += 1
                return state.observers == 1 ? state.round : nil
            }
            if let round { queue.async { [weak self] in self?.run(round) } }
        }

        /// Removes an observer. The last one stops checking.
        func remove() {
            state.withLock { state in
                state.observers -= 1
                if state.observers == 0 { state.round += 1 }
            }
        }

        /// Stops checking, because the store is closed.
        func stop() { state.withLock { $0.round += 1 } }

        private func run(_ round: Int) {
            guard state.withLock({ $0.round == round && $0.observers > 0 }) else { return }
            if let writes = look() {
                let isNew = state.withLock { state in
                    state.looks += 1
                    defer { state.writes = writes }
                    return state.writes.map { $0 != writes } ?? false
                }
                if isNew { onWrite() }
            }
            queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.run(round) }
        }
    }
#endif
