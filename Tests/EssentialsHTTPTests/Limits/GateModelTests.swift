import EssentialsHTTP
import TestTools
import Testing

/// A machine beside its slow reference. Every event goes to both, and they must agree.
private struct GatePair {
    var machine: GateMachine
    var reference: ReferenceGate
    var passes: [UInt64: GateMachine.Pass] = [:]
    var now = Duration.zero
    /// How the requests ended that were not sent.
    var refused: Set<UInt64> = []
    let limit: Int
    /// The first difference between the two.
    var difference: String?

    init(_ limits: OriginLimits) {
        machine = GateMachine(limits)
        reference = ReferenceGate(limits)
        limit = limits.concurrency ?? .max
    }

    private mutating func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ event: String) {
        if value != expected, difference == nil { difference = "\(event): \(value) instead of \(expected)" }
    }

    mutating func arrive(_ number: UInt64, _ priority: RequestPriority) {
        let arrival = machine.arrive(number, priority, at: now)
        let expected = reference.arrive(number, priority, at: now)
        switch arrival {
        case .start(let pass):
            passes[number] = pass
            expect(.start, expected, "arrive \(number)")
        case .wait: expect(.wait, expected, "arrive \(number)")
        case .full:
            refused.insert(number)
            expect(.full, expected, "arrive \(number)")
        case .refused(let open):
            refused.insert(number)
            expect(.refused(open.timeLeft), expected, "arrive \(number)")
        }
        follow(reference.next(at: now), "arrive \(number)")
    }

    mutating func withdraw(_ number: UInt64) {
        expect(machine.withdraw(number, at: now), true, "withdraw \(number)")
        reference.withdraw(number)
        refused.insert(number)
        follow(reference.next(at: now), "withdraw \(number)")
    }

    mutating func end(_ number: UInt64, _ outcome: BreakerMachine.Outcome, wasSent: Bool = true) {
        guard let pass = passes.removeValue(forKey: number) else { return }
        machine.leave(wasSent: wasSent)
        machine.finish(pass, outcome, at: now)
        follow(reference.end(number, outcome, wasSent: wasSent, at: now), "end \(number) as \(outcome)")
    }

    mutating func advance(by time: Duration) {
        now += time
        follow(reference.next(at: now), "time \(now)")
    }

    private mutating func follow(_ expected: [ReferenceGate.Action], _ event: String) {
        var actions: [ReferenceGate.Action] = []
        while let action = machine.next(at: now) {
            switch action {
            case .start(let number, let pass):
                passes[number] = pass
                actions.append(.start(number))
            case .refuse(let number, let open):
                refused.insert(number)
                actions.append(.refuse(number, open.timeLeft))
            }
        }
        expect(actions, expected, event)
        let state = machine.state(at: now)
        expect(state.permitsInUse, reference.running.count, "permits after \(event)")
        expect(Set(passes.keys), reference.running, "running after \(event)")
        expect(state.waiting, reference.waiting.count, "line after \(event)")
        expect(state.rateTokensLeft, reference.tokens(at: now), "tokens after \(event)")
        expect(state.circuit, reference.circuit(at: now), "circuit after \(event)")
        if state.permitsInUse > limit { expect("more permits than the limit", "", event) }
    }
}

@Suite("A gate compared with a slow reference")
struct GateModelTests {
    private static func breaker() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = 2
        breaker.openTime = .seconds(1)
        breaker.longestOpenTime = .seconds(3)
        return breaker
    }

    private static func limits(
        _ concurrency: Int?, _ breaker: CircuitBreaker?, _ rate: RateLimit? = nil, queue: Int = 10
    ) -> OriginLimits {
        var limits = OriginLimits(concurrency: concurrency, rate: rate, breaker: breaker)
        limits.queueLimit = queue
        return limits
    }

    /// Tries everything that can happen next, and everything after that.
    private func explore(_ pair: GatePair, _ priorities: [RequestPriority], ticks: Int, _ count: inout Int) {
        guard pair.difference == nil, count >= 0 else { return }
        let arrived = pair.passes.count + pair.reference.waiting.count + pair.refused.count
        var isOver = true
        func branch(_ change: (inout GatePair) -> Void, ticks: Int, _ done: Int = 0) {
            isOver = false
            var next = pair
            change(&next)
            if let difference = next.difference {
                Issue.record("\(difference)")
                count = -1
                return
            }
            explore(next, Array(priorities.dropFirst(done)), ticks: ticks, &count)
        }
        if let priority = priorities.first {
            branch({ $0.arrive(UInt64(4 - priorities.count), priority) }, ticks: ticks, 1)
        }
        for number in pair.reference.waiting { branch({ $0.withdraw(number) }, ticks: ticks) }
        for number in pair.passes.keys.sorted() {
            branch({ $0.endAndForget(number, .success) }, ticks: ticks)
            branch({ $0.endAndForget(number, .failure) }, ticks: ticks)
            branch({ $0.endAndForget(number, .uncounted) }, ticks: ticks)
        }
        if ticks > 0, arrived > 0 { branch({ $0.advance(by: .seconds(1)) }, ticks: ticks - 1) }
        guard isOver else { return }
        count += 1
        // All four have ended: nothing is left.
        if pair.machine.permitsInUse != 0 || pair.machine.waiting != 0 || pair.refused.count != 4 {
            Issue.record("Something is left: \(pair.machine)")
            count = -1
        }
    }

    @Test(
        "In every order of four requests, every outcome and every cancellation, the gate does the same as its reference",
        arguments: [
            (limits(1, nil), 0), (limits(2, nil, queue: 1), 0), (limits(nil, breaker()), 2), (limits(1, breaker()), 1),
            (limits(nil, nil, RateLimit(1, per: .seconds(1))), 2),
        ])
    func everyOrder(limits: OriginLimits, ticks: Int) {
        var count = 0
        explore(GatePair(limits), [.normal, .high, .normal, .low], ticks: ticks, &count)
        #expect(count > 500)
    }

    @Test("In random sequences the gate does the same as its reference", arguments: 1...40)
    func randomSequences(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var limits = OriginLimits()
        if Bool.random(using: &numbers) { limits.concurrency = .random(in: 1...5, using: &numbers) }
        if Bool.random(using: &numbers) {
            limits.rate = RateLimit(
                .random(in: 1...7, using: &numbers), per: .milliseconds(.random(in: 100...2_000, using: &numbers)),
                burst: .random(in: 1...5, using: &numbers))
        }
        if seed % 3 != 0 {
            var breaker = Self.breaker()
            breaker.minimumOutcomes = .random(in: 1...10, using: &numbers)
            breaker.failureRatio = [0.2, 0.5, 0.9].randomElement(using: &numbers) ?? 0.5
            limits.breaker = breaker
        }
        limits.queueLimit = .random(in: 0...8, using: &numbers)
        var pair = GatePair(limits)
        for number in 0..<UInt64(2_000) {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0...3: pair.arrive(number, RequestPriority.allCases.randomElement(using: &numbers) ?? .normal)
            case 4: if let one = pair.reference.waiting.randomElement(using: &numbers) { pair.withdraw(one) }
            case 5...7:
                guard let one = pair.passes.keys.sorted().randomElement(using: &numbers) else { break }
                let outcome: BreakerMachine.Outcome =
                    [.success, .failure, .failure, .uncounted].randomElement(using: &numbers) ?? .success
                pair.end(one, outcome, wasSent: outcome != .uncounted)
            default: pair.advance(by: .milliseconds(.random(in: 0...700, using: &numbers)))
            }
            if pair.difference != nil { break }
        }
        #expect(pair.difference == nil, "seed \(seed), \(limits)")
    }
}

extension GatePair {
    fileprivate mutating func endAndForget(_ number: UInt64, _ outcome: BreakerMachine.Outcome) {
        end(number, outcome)
        refused.insert(number)
    }
}
