#if Persistence
    import Dispatch
    import EssentialsTools

    /// Runs closures on threads of its own, a limited number at the same time, in the order in which they come.
    ///
    /// The threads are those of serial queues. Those of concurrent ones are as few as the machine has cores, and tasks run on
    /// them too on Linux: closures that wait for the disk would hold up the whole program.
    final class WorkQueue: Sendable {
        private struct State {
            /// The queues that run nothing. They are made when they are needed.
            var idle: [DispatchQueue] = []
            var running = 0
            /// What came last, and what is next, the last of which is the first. What is taken out of an array is released,
            /// which a slice of one would keep.
            var added: [@Sendable () -> Void] = []
            var next: [@Sendable () -> Void] = []

            mutating func takeNext() -> (@Sendable () -> Void)? {
                if next.isEmpty {
                    next = added.reversed()
                    added = []
                }
                return next.popLast()
            }
        }

        private let label: String
        private let width: Int
        private let state = Mutex(State())

        init(_ label: String, width: Int) {
            self.label = label
            self.width = max(width, 1)
        }

        func submit(_ body: @escaping @Sendable () -> Void) {
            let queue: DispatchQueue? = state.withLock { state in
                guard state.running < width else {
                    state.added.append(body)
                    return nil
                }
                state.running += 1
                return state.idle.popLast() ?? DispatchQueue(label: label)
            }
            guard let queue else { return }
            queue.async { [self] in
                body()
                while let next = next(queue) { next() }
            }
        }

        private func next(_ queue: DispatchQueue) -> (@Sendable () -> Void)? {
            state.withLock { state in
                if let next = state.takeNext() { return next }
                state.running -= 1
                state.idle.append(queue)
                return nil
            }
        }
    }
#endif
