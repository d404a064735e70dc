import EssentialsHTTP
import EssentialsTools

/// The groups of equal requests of one service, and the requests that wait for their outcomes.
final class JoinedExchanges: Sendable {
    /// The maximum number of groups at the same time.
    static let maximumGroups = 10_000

    /// The end of a wait.
    enum Verdict: Sendable {
        case finished(SharedOutcome)
        case cancelled
        case expired
    }

    /// A request that waits for the outcome of its group.
    struct Seat: Sendable {
        let group: UInt64
        let exchange: Exchange
        /// The request's number in the machine.
        fileprivate let number: UInt64
        /// The request, with its wait. Whoever takes it out of its group in the machine ends the wait, once.
        fileprivate let key: JoinKey
    }

    /// The exchange of a group.
    struct Exchange: Sendable {
        /// Ends the exchange when nobody waits for it.
        let cancellation = Cancellation()
        /// The highest priority of all requests that have waited for the exchange.
        let priority = RaisablePriority()
    }

    enum Arrival: Sendable {
        /// The caller has to send the request, and to call ``finish(_:_:)`` with the outcome.
        case lead(Seat)
        case follow(Seat)
        case alone
    }

    private struct State {
        var machine = JoinMachine<RequestURL, JoinKey, JoinKey>()
        var exchanges: [UInt64: Exchange] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    /// Whether a group has ever begun, so that a service whose requests share nothing needs no lock.
    private let isUsed = Atomic<Bool>(false)

    /// The number of groups, and of requests that wait for them.
    var usage: (groups: Int, waiters: Int) {
        state.withLock { (max($0.machine.groupCount, $0.exchanges.count), $0.machine.waiterCount) }
    }

    /// A request arrives. Unless it is sent alone, ``verdict(of:within:_:_:)`` has to be called.
    func arrive(_ key: JoinKey, at url: RequestURL) -> Arrival {
        isUsed.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            switch state.machine.arrive(number, key, key, at: url) {
            case .alone: return .alone
            case .lead(let group):
                let exchange = Exchange()
                state.exchanges[group] = exchange
                return .lead(Seat(group: group, exchange: exchange, number: number, key: key))
            case .follow(let group):
                let exchange = state.exchanges[group] ?? Exchange()
                return .follow(Seat(group: group, exchange: exchange, number: number, key: key))
            }
        }
    }

    /// Waits for the outcome of a group.
    ///
    /// - Parameters:
    ///   - limit: The time after which this request stops waiting; `nil` for no limit.
    ///   - clock: Measures the limit.
    ///   - cancellation: Ends the wait of this request at once, like a cancellation of the calling task.
    func verdict(
        of seat: Seat, within limit: Duration?, _ clock: RequestClock, _ cancellation: Cancellation
    ) async -> Verdict {
        if let verdict = seat.key.verdict { return verdict }
        let registration = cancellation.add { self.leave(seat, .cancelled) }
        defer { cancellation.remove(registration) }
        let timer = limit.map { limit in
            Task {
                // The sleep is cancelled and throws if the wait ends first.
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                leave(seat, .expired)
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await seat.key.ended()
        } onCancel: {
            leave(seat, .cancelled)
        }
    }

    /// Ends the wait of one request. If it was the last one of its group, the exchange is cancelled.
    private func leave(_ seat: Seat, _ verdict: Verdict) {
        let departure = state.withLock { state in
            let departure = state.machine.leave(seat.number, seat.group)
            if departure == .last { state.exchanges[seat.group] = nil }
            return departure
        }
        if departure == .last { seat.exchange.cancellation.cancel() }
        if departure != .none { seat.key.end(verdict) }
    }

    /// Passes the outcome of an exchange to all requests of its group.
    func finish(_ group: UInt64, _ outcome: SharedOutcome) {
        let requests = state.withLock { state in
            state.exchanges[group] = nil
            return state.machine.finish(group)
        }
        for request in requests { request.end(.finished(outcome)) }
    }

    /// Closes the groups of a URL: later requests do not share an exchange that has begun.
    func close(_ url: RequestURL) {
        guard isUsed.load(ordering: .relaxed) else { return }
        state.withLock { $0.machine.close(url) }
    }

    /// Closes all groups: later requests do not share an exchange that has begun.
    func closeAll() { state.withLock { $0.machine.closeAll() } }
}
