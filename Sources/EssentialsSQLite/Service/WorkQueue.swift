#if Persistence
    import Dispatch
    import EssentialsTools

    /// Runs closures on its own threads, a limited number at the same time, in the order of submission.
    ///
    /// The threads belong to serial queues. Concurrent queues have only as many threads as the machine has cores, and
    /// on Linux tasks run on them too: closures that wait for the disk would block the whole program.
    final class WorkQueue: Sendable {
        private struct State {
            /// The idle queues. Queues are created on demand.
            var idle: [DispatchQueue] = []
            var running = 0
            /// New work in order of arrival; older work reversed, so that the next item is the last. Removing an item
            /// from an array releases it, while a slice would keep it.
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
