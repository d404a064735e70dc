import EssentialsTools

/// Delivers statuses to one observer, one at a time. Only the newest is delivered, and never the same one twice in a
/// row.
final class StatusObserver: Sendable {
    private struct State {
        /// The next status to deliver. A newer status replaces it.
        var due: ReachabilityStatus?
        var version: UInt64 = 0
        var delivered: ReachabilityStatus?
        var isDelivering = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let deliver: @Sendable (ReachabilityStatus) -> Void

    /// - Parameters:
    ///   - schedule: Runs its argument, now or later, in the context where `deliver` is called.
    ///   - deliver: Receives a status. It is called without a lock, and calls never overlap.
    init(
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        deliver: @escaping @Sendable (ReachabilityStatus) -> Void
    ) {
        self.schedule = schedule
        self.deliver = deliver
    }

    /// Offers a status. It is dropped if a newer status was already offered.
    func offer(_ status: ReachabilityStatus, version: UInt64) {
        let schedules = state.withLock { state in
            guard !state.hasEnded, version > state.version else { return false }
            state.version = version
            state.due = status
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if schedules { schedule { self.drain() } }
    }

    /// Ends the delivery.
    func end() { state.withLock { $0.hasEnded = true } }

    private func drain() {
        while let status = next() { deliver(status) }
    }

    private func next() -> ReachabilityStatus? {
        state.withLock { state in
            guard !state.hasEnded, let due = state.due.take(), due != state.delivered else {
                state.isDelivering = false
                return nil
            }
            state.delivered = due
            return due
        }
    }
}
