import EssentialsTransport

/// Decides which requests to one origin are sent now, which wait in line, and which fail.
///
/// The caller passes every event with its time, and then repeats ``next(at:)`` until it returns `nil`. The machine owns
/// no request and no clock. A time that is slightly earlier than the last one, from another thread, does no harm.
package struct GateMachine: Sendable {
    /// The right to send one request. It counts until ``leave(wasSent:)``.
    package struct Pass: Sendable, Hashable {
        fileprivate let ticket: BreakerMachine.Ticket?
    }

    /// What happens to a request that arrives.
    package enum Arrival: Sendable, Hashable {
        case start(Pass)
        /// ``GateMachine/next(at:)`` will name the request.
        case wait
        /// The line is full.
        case full
        case refused(CircuitOpen)
    }

    /// What happens to a request that has waited.
    package enum Action: Sendable, Hashable {
        case start(UInt64, Pass)
        case refuse(UInt64, CircuitOpen)
    }

    private let concurrency: Int
    private let queueLimit: Int
    private var rate: RateMachine?
    private var breaker: BreakerMachine?
    private var line = PriorityLine()
    /// The tickets of the requests in the line, if there is a breaker.
    private var tickets: [UInt64: BreakerMachine.Ticket] = [:]
    /// Whether all requests in the line are being refused, because the circuit has opened.
    private var isRefusing = false
    package private(set) var permitsInUse = 0

    package init(_ limits: OriginLimits) {
        concurrency = max(1, limits.concurrency ?? .max)
        queueLimit = max(0, limits.queueLimit)
        rate = limits.rate.map(RateMachine.init)
        breaker = limits.breaker.map(BreakerMachine.init)
    }

    package var waiting: Int { line.count }

    /// Whether the machine can be forgotten without losing anything except counts.
    package var isIdle: Bool { permitsInUse == 0 && line.isEmpty }

    /// A request arrives.
    ///
    /// - Parameter number: Identifies the request if it has to wait. No other request of the origin has the same.
    package mutating func arrive(_ number: UInt64, _ priority: RequestPriority, at now: Duration) -> Arrival {
        if let refusal = breaker?.refusal(at: now) { return .refused(refusal) }
        if line.isEmpty, permitsInUse < concurrency, rate?.take(at: now) ?? true {
            permitsInUse += 1
            return .start(Pass(ticket: breaker?.pass()))
        }
        guard line.count < queueLimit else { return .full }
        line.append(number, priority)
        // A probe is chosen when it arrives, so that no second one waits behind it.
        if let ticket = breaker?.pass() { tickets[number] = ticket }
        return .wait
    }

    /// A request leaves the line before its turn. It returns whether the request was in the line.
    package mutating func withdraw(_ number: UInt64, at now: Duration) -> Bool {
        guard line.remove(number) else { return false }
        if let ticket = tickets.removeValue(forKey: number) { _ = breaker?.end(ticket, .uncounted, at: now) }
        return true
    }

    /// A request has become more urgent. One that does not wait is left alone.
    package mutating func raise(_ number: UInt64, to priority: RequestPriority) { line.raise(number, to: priority) }

    /// The outcome of a request is known. It is called once for each pass.
    package mutating func finish(_ pass: Pass, _ outcome: BreakerMachine.Outcome, at now: Duration) {
        guard let ticket = pass.ticket, breaker?.end(ticket, outcome, at: now) == true else { return }
        isRefusing = !line.isEmpty
    }

    /// The body of a request was read or dropped, or the request was not sent at all. It is called once for each pass.
    package mutating func leave(wasSent: Bool = true) {
        permitsInUse -= 1
        if !wasSent { rate?.giveBack() }
    }

    /// The next request that leaves the line; `nil` if none does now.
    package mutating func next(at now: Duration) -> Action? {
        if isRefusing {
            if let number = line.popFirst() {
                tickets[number] = nil
                return .refuse(number, breaker?.refusal(at: now) ?? CircuitOpen(timeLeft: .zero))
            }
            isRefusing = false
        }
        guard !line.isEmpty, permitsInUse < concurrency, rate?.take(at: now) ?? true, let number = line.popFirst()
        else { return nil }
        permitsInUse += 1
        return .start(number, Pass(ticket: tickets.removeValue(forKey: number)))
    }

    /// The time after which ``next(at:)`` has to be called again; `nil` if only another event can change something.
    package func wait(at now: Duration) -> Duration? {
        guard !line.isEmpty, permitsInUse < concurrency else { return nil }
        return rate?.wait(at: now)
    }

    /// Whether the circuit is closed, or there is no breaker.
    package func isClosed(at now: Duration) -> Bool { breaker?.shown(at: now) ?? .closed == .closed }

    package func state(at now: Duration) -> OriginLimits.State {
        OriginLimits.State(
            permitsInUse: permitsInUse, waiting: line.count, rateTokensLeft: rate?.tokens(at: now),
            circuit: breaker?.shown(at: now) ?? .closed)
    }
}
