#if canImport(Combine) || OpenCombine
    import Synchronization

    /// How many values a subscriber still wants. It is a value without a lock.
    struct DemandCounter: Sendable {
        /// The number of values; `Int.max` means no limit.
        private(set) var remaining = 0

        /// Adds to the demand.
        ///
        /// - Parameter count: The number of values; `nil` means no limit. A negative number counts as 0.
        mutating func add(_ count: Int?) {
            guard let count else { return remaining = .max }
            let (sum, overflows) = remaining.addingReportingOverflow(max(count, 0))
            remaining = overflows ? .max : sum
        }

        /// Takes one value's demand. Returns `false` if there is none.
        mutating func take() -> Bool {
            guard remaining > 0 else { return false }
            if remaining < .max { remaining -= 1 }
            return true
        }
    }

    /// Lets the one task of a subscription wait for demand.
    final class DemandGate: Sendable {
        private struct State {
            var demand = DemandCounter()
            var waiter: CheckedContinuation<Bool, Never>?
            var isCancelled = false
        }

        private let state = Mutex(State())

        /// Adds to the demand.
        func add(_ count: Int?) {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                state.demand.add(count)
                guard state.waiter != nil, state.demand.take() else { return nil }
                return state.waiter.take()
            }
            waiter?.resume(returning: true)
        }

        /// Waits until there is demand for one value, and takes it.
        ///
        /// - Returns: `false` after ``cancel()``.
        func take() async -> Bool {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Bool? in
                    if state.isCancelled { return false }
                    if state.demand.take() { return true }
                    state.waiter = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        }

        /// Whether the subscriber has cancelled.
        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        func cancel() {
            let waiter = state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }
            waiter?.resume(returning: false)
        }
    }
#endif
