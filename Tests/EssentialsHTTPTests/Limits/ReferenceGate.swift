import EssentialsHTTP

/// A slow gate with the same rules, written with lists that are searched from the start.
struct ReferenceGate {
    private struct Waiting {
        let number: UInt64
        let priority: RequestPriority
    }

    private enum Circuit: Equatable {
        case closed
        case open(time: Duration, end: Duration)
    }

    private let limits: OriginLimits
    private var line: [Waiting] = []
    private(set) var running: Set<UInt64> = []
    /// The change of state after which a request was let through.
    private var epochs: [UInt64: Int] = [:]
    private var circuit = Circuit.closed
    private var epoch = 0
    private(set) var probe: UInt64?
    private var outcomes: [(time: Duration, isFailure: Bool)] = []
    /// The tokens in units of attoseconds.
    private var credit: Int128 = 0
    private var creditTime = Duration.zero

    init(_ limits: OriginLimits) {
        self.limits = limits
        credit = capacity
    }

    private var interval: Int128 { (limits.rate?.interval ?? .seconds(1)).attoseconds }
    private var capacity: Int128 { interval * Int128(limits.rate?.burst ?? 1) }
    var waiting: [UInt64] { line.map(\.number) }

    enum Arrival: Equatable {
        case start, wait, full
        case refused(Duration?)
    }

    enum Action: Equatable {
        case start(UInt64)
        case refuse(UInt64, Duration?)
    }

    private mutating func refill(at now: Duration) {
        credit = min(capacity, credit + (now - creditTime).attoseconds)
        creditTime = now
    }

    private mutating func takeToken(at now: Duration) -> Bool {
        guard limits.rate != nil else { return true }
        refill(at: now)
        guard credit >= interval else { return false }
        credit -= interval
        return true
    }

    mutating func tokens(at now: Duration) -> Int? {
        guard limits.rate != nil else { return nil }
        refill(at: now)
        return Int(credit / interval)
    }

    private func refusal(at now: Duration) -> Arrival? {
        guard limits.breaker != nil, case .open(_, let end) = circuit else { return nil }
        if now < end { return .refused(end - now) }
        return probe == nil ? nil : .refused(nil)
    }

    private var hasRoom: Bool { running.count < limits.concurrency ?? .max }

    mutating func arrive(_ number: UInt64, _ priority: RequestPriority, at now: Duration) -> Arrival {
        if let refusal = refusal(at: now) { return refusal }
        let starts = line.isEmpty && hasRoom && takeToken(at: now)
        if !starts, line.count >= limits.queueLimit { return .full }
        epochs[number] = epoch
        if circuit != .closed { probe = number }
        if starts {
            running.insert(number)
            return .start
        }
        line.append(Waiting(number: number, priority: priority))
        return .wait
    }

    mutating func withdraw(_ number: UInt64) {
        line.removeAll { $0.number == number }
        if probe == number { probe = nil }
    }

    /// The actions that follow the end of a request.
    mutating func end(
        _ number: UInt64, _ outcome: BreakerMachine.Outcome, wasSent: Bool, at now: Duration
    ) -> [Action] {
        running.remove(number)
        if !wasSent {
            refill(at: now)
            credit = min(capacity, credit + interval)
        }
        guard let breaker = limits.breaker, epochs[number] == epoch else { return next(at: now) }
        if number == probe {
            probe = nil
            guard case .open(let time, _) = circuit else { return next(at: now) }
            switch outcome {
            case .uncounted: break
            case .success:
                circuit = .closed
                epoch += 1
            case .failure: open(for: min(time * 2, breaker.longestOpenTime), at: now)
            }
        } else if outcome != .uncounted {
            outcomes.append((now, outcome == .failure))
            let step = breaker.window / 10
            let present = now.attoseconds / step.attoseconds
            let counted = outcomes.filter { $0.time.attoseconds / step.attoseconds > present - 10 }
            let failures = counted.filter(\.isFailure).count
            if counted.count >= breaker.minimumOutcomes, failures > 0,
                Double(failures) >= breaker.failureRatio * Double(counted.count)
            {
                open(for: breaker.openTime, at: now)
            }
        }
        return next(at: now)
    }

    private mutating func open(for time: Duration, at now: Duration) {
        circuit = .open(time: time, end: now + time)
        epoch += 1
        outcomes = []
    }

    mutating func next(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .open(_, let end) = circuit, probe == nil {
            // Nobody waits in an open circuit except a probe.
            while let first = first() { actions.append(.refuse(remove(first), end - now)) }
        }
        while let first = first(), hasRoom, takeToken(at: now) {
            running.insert(first)
            actions.append(.start(remove(first)))
        }
        return actions
    }

    private func first() -> UInt64? {
        var best: Waiting?
        for waiting in line where best.map({ waiting.priority > $0.priority }) ?? true { best = waiting }
        return best?.number
    }

    private mutating func remove(_ number: UInt64) -> UInt64 {
        line.removeAll { $0.number == number }
        return number
    }

    func circuit(at now: Duration) -> CircuitBreaker.State {
        guard case .open(_, let end) = circuit else { return .closed }
        return now < end ? .open(timeLeft: end - now) : .halfOpen
    }
}
