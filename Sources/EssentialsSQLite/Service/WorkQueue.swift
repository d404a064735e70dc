#if Persistence
    import Dispatch
    import Synchronization

    /// Runs closures on threads of its own, a limited number at the same time, in the order in which they come.
    final class WorkQueue: Sendable {
        private struct State {
            var running = 0
            var waiting: ArraySlice<@Sendable () -> Void> = []
        }

        private let queue: DispatchQueue
        private let width: Int
        private let state = Mutex(State())

        init(_ label: String, width: Int) {
            queue = DispatchQueue(label: label, attributes: .concurrent)
            self.width = max(width, 1)
        }

        func submit(_ body: @escaping @Sendable () -> Void) {
            let isFree = state.withLock { state in
                if state.running < width {
                    state.running += 1
                    return true
                }
                state.waiting.append(body)
                return false
            }
            guard isFree else { return }
            queue.async { [self] in
                body()
                while let next = next() { next() }
            }
        }

        private func next() -> (@Sendable () -> Void)? {
            state.withLock { state in
                if let next = state.waiting.popFirst() { return next }
                state.running -= 1
                return nil
            }
        }
    }
#endif
