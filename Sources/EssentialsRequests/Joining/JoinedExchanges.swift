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
        let exchange: Exchange
        fileprivate let waiter: UInt64
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

    /// The wait of one request.
    private enum Wait {
        /// It has not begun.
        case ahead
        case running(CheckedContinuation<Verdict, Never>)
        /// It ended before it began.
        case over(Verdict)
    }

    private struct State {
        var machine = JoinMachine<RequestURL, JoinKey>()
        /// The waits that have not ended, and those that ended before they began.
        var waits: [UInt64: Wait] = [:]
        var exchanges: [UInt64: Exchange] = [:]
        var lastWaiter: UInt64 = 0

        /// Ends the wait of a request. It returns the continuation to resume, if the wait has begun.
        mutating func end(_ waiter: UInt64, _ verdict: Verdict) -> CheckedContinuation<Verdict, Never>? {
            if case .running(let continuation)? = waits[waiter] {
                waits[waiter] = nil
                return continuation
            }
            waits[waiter] = .over(verdict)
            return nil
        }

        /// The verdict of a wait that ended before it began.
        mutating func early(_ waiter: UInt64) -> Verdict? {
            guard case .over(let verdict)? = waits[waiter] else { return nil }
            waits[waiter] = nil
            return verdict
        }
    }

    private let state = Mutex(State())
    /// Whether a group has ever begun, so that a service whose requests share nothing needs no lock.
    private let isUsed = Atomic<Bool>(false)

    /// The number of groups, and of requests that wait for them.
    var usage: (groups: Int, waiters: Int) {
        state.withLock { state in
            let waiters = state.waits.values.count { wait in
                if case .over = wait { false } else { true }
            }
            return (max(state.machine.groupCount, state.exchanges.count), waiters)
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
            case .lead(let group):
                let exchange = Exchange()
                state.exchanges[group] = exchange
                state.waits[waiter] = .ahead
                return .lead(Seat(group: group, exchange: exchange, waiter: waiter))
            case .follow(let group):
                state.waits[waiter] = .ahead
                return .follow(
                    Seat(group: group, exchange: state.exchanges[group] ?? Exchange(), waiter: waiter))
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
        if let verdict = state.withLock({ $0.early(seat.waiter) }) { return verdict }
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
            await withCheckedContinuation { continuation in
                let verdict = state.withLock { state in
                    let verdict = state.early(seat.waiter)
                    if verdict == nil { state.waits[seat.waiter] = .running(continuation) }
                    return verdict
                }
                if let verdict { continuation.resume(returning: verdict) }
            }
        } onCancel: {
            leave(seat, .cancelled)
        }
    }

    /// Ends the wait of one request. If it was the last one of its group, the exchange is cancelled.
    private func leave(_ seat: Seat, _ verdict: Verdict) {
        let (continuation, isLast) = state.withLock { state -> (CheckedContinuation<Verdict, Never>?, Bool) in
            let departure = state.machine.leave(seat.waiter, seat.group)
            guard departure != .none else { return (nil, false) }
            if departure == .last { state.exchanges[seat.group] = nil }
            return (state.end(seat.waiter, verdict), departure == .last)
        }
        if isLast { seat.exchange.cancellation.cancel() }
        continuation?.resume(returning: verdict)
    }

    /// Passes the outcome of an exchange to all requests of its group.
    func finish(_ group: UInt64, _ outcome: SharedOutcome) {
        typealias Continuation = CheckedContinuation<Verdict, Never>
        // Most groups have one request, for which no array is needed.
        let (first, others) = state.withLock { state -> (Continuation?, [Continuation]) in
            state.exchanges[group] = nil
            var (first, others): (Continuation?, [Continuation]) = (nil, [])
            for waiter in state.machine.finish(group) {
                guard let continuation = state.end(waiter, .finished(outcome)) else { continue }
                if first == nil { first = continuation } else { others.append(continuation) }
            }
            return (first, others)
        }
        first?.resume(returning: .finished(outcome))
        for continuation in others { continuation.resume(returning: .finished(outcome)) }
    }

    /// Closes the groups of a URL: later requests do not share an exchange that has begun.
    func close(_ url: RequestURL) {
        guard isUsed.load(ordering: .relaxed) else { return }
        state.withLock { $0.machine.close(url) }
    }

    /// Closes all groups: later requests do not share an exchange that has begun.
    func closeAll() { state.withLock { $0.machine.closeAll() } }
}
