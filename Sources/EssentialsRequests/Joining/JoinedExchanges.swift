import EssentialsHTTP
import Synchronization

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
        /// The priority of the exchange: the highest of all requests that have waited for it.
        let priority: RaisablePriority
        fileprivate let waiter: UInt64
        fileprivate let promise: Promise<Verdict>
    }

    enum Arrival: Sendable {
        /// The caller has to send the request, and to call ``finish(_:_:)`` with the outcome.
        case lead(Seat, Cancellation)
        case follow(Seat)
        case alone
    }

    private struct State {
        var machine = JoinMachine<RequestURL, JoinKey>()
        var promises: [UInt64: Promise<Verdict>] = [:]
        /// Ends the exchange of each group, and raises its priority.
        var exchanges: [UInt64: (cancellation: Cancellation, priority: RaisablePriority)] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())
    /// Whether a group has ever begun, so that a service whose requests share nothing needs no lock.
    private let isUsed = Atomic<Bool>(false)

    /// The number of groups, and of requests that wait for them.
    var usage: (groups: Int, waiters: Int) {
        state.withLock { state in
            (max(state.machine.groupCount, state.exchanges.count), state.promises.count)
        }
    }

    /// A request arrives. Unless it is sent alone, ``verdict(of:within:_:_:)`` has to be called.
    func arrive(_ key: JoinKey, at url: RequestURL) -> Arrival {
        isUsed.store(true, ordering: .relaxed)
        return state.withLock { state in
            state.lastWaiter += 1
            let waiter = state.lastWaiter
            let arrival = state.machine.arrive(waiter, key, at: url)
            switch arrival {
            case .alone: return .alone
            case .lead(let group), .follow(let group):
                let priority = state.exchanges[group]?.priority ?? RaisablePriority()
                let seat = Seat(group: group, priority: priority, waiter: waiter, promise: Promise())
                state.promises[waiter] = seat.promise
                guard case .lead = arrival else { return .follow(seat) }
                let cancellation = Cancellation()
                state.exchanges[group] = (cancellation, priority)
                return .lead(seat, cancellation)
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
            await seat.promise.value()
        } onCancel: {
            leave(seat, .cancelled)
        }
    }

    /// Ends the wait of one request. If it was the last one of its group, the exchange is cancelled.
    private func leave(_ seat: Seat, _ verdict: Verdict) {
        let (promise, cancellation) = state.withLock { state -> (Promise<Verdict>?, Cancellation?) in
            let departure = state.machine.leave(seat.waiter, seat.group)
            guard departure != .none else { return (nil, nil) }
            return (
                state.promises.removeValue(forKey: seat.waiter),
                departure == .last ? state.exchanges.removeValue(forKey: seat.group)?.cancellation : nil
            )
        }
        cancellation?.cancel()
        promise?.keep(verdict)
    }

    /// Passes the outcome of an exchange to all requests of its group.
    func finish(_ group: UInt64, _ outcome: SharedOutcome) {
        let promises = state.withLock { state in
            state.exchanges[group] = nil
            return state.machine.finish(group).compactMap { state.promises.removeValue(forKey: $0) }
        }
        for promise in promises { promise.keep(.finished(outcome)) }
    }

    /// Closes the groups of a URL: later requests do not share an exchange that has begun.
    func close(_ url: RequestURL) {
        guard isUsed.load(ordering: .relaxed) else { return }
        state.withLock { $0.machine.close(url) }
    }

    /// Closes all groups: later requests do not share an exchange that has begun.
    func closeAll() { state.withLock { $0.machine.closeAll() } }
}
