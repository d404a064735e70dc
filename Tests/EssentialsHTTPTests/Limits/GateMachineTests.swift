import EssentialsHTTP
import TestTools
import Testing

@testable import struct EssentialsHTTP.PriorityLine

@Suite("Gate")
struct GateMachineTests {
    /// Starts a request, and returns its pass if it may be sent.
    private func started(_ machine: inout GateMachine, _ number: UInt64, at now: Duration = .zero) -> GateMachine.Pass?
    {
        if case .start(let pass) = machine.arrive(number, .normal, at: now) { pass } else { nil }
    }

    @Test("A permit is free again when its request has left, and the most urgent request takes it")
    func priorities() {
        var machine = GateMachine(OriginLimits(concurrency: 1))
        #expect(started(&machine, 0) != nil)
        for (number, priority) in [RequestPriority.low, .normal, .interactive, .normal, .high].enumerated() {
            #expect(machine.arrive(UInt64(number + 1), priority, at: .zero) == .wait)
        }
        var order: [UInt64] = []
        for _ in 0..<5 {
            #expect(machine.next(at: .zero) == nil)
            machine.leave()
            if case .start(let number, _) = machine.next(at: .zero) { order.append(number) }
        }
        #expect(order == [3, 5, 2, 4, 1])
    }

    @Test("A full line refuses a request, and has room again when one has left it")
    func queueLimit() {
        var limits = OriginLimits(concurrency: 1)
        limits.queueLimit = 1
        var machine = GateMachine(limits)
        #expect(started(&machine, 0) != nil)
        #expect(machine.arrive(1, .normal, at: .zero) == .wait)
        #expect(machine.arrive(2, .interactive, at: .zero) == .full)
        #expect(machine.withdraw(1, at: .zero) == true)
        #expect(machine.withdraw(1, at: .zero) == false)
        #expect(machine.arrive(3, .normal, at: .zero) == .wait)
    }

    @Test("A burst is sent at once, and then one request for each interval")
    func rate() {
        var machine = GateMachine(OriginLimits(rate: RateLimit(10, per: .seconds(1), burst: 3)))
        for number in 0..<3 { #expect(started(&machine, UInt64(number)) != nil) }
        #expect(machine.arrive(3, .normal, at: .zero) == .wait)
        #expect(machine.arrive(4, .normal, at: .zero) == .wait)
        #expect(machine.wait(at: .zero) == .milliseconds(100))
        #expect(machine.next(at: .milliseconds(99)) == nil)
        guard case .start(3, _) = machine.next(at: .milliseconds(100)) else {
            Issue.record("The request did not start.")
            return
        }
        #expect(machine.wait(at: .milliseconds(150)) == .milliseconds(50))
        #expect(machine.state(at: .milliseconds(150)).rateTokensLeft == 0)
        #expect(machine.withdraw(4, at: .milliseconds(150)) == true)
        #expect(machine.wait(at: .milliseconds(150)) == nil)
        #expect(machine.state(at: .seconds(9)).rateTokensLeft == 3)
    }

    @Test("A request that was not sent gives its token back")
    func tokenBack() {
        var machine = GateMachine(OriginLimits(rate: RateLimit(1, per: .seconds(1))))
        #expect(started(&machine, 0) != nil)
        #expect(machine.state(at: .zero).rateTokensLeft == 0)
        machine.leave(wasSent: false)
        #expect(machine.state(at: .zero).rateTokensLeft == 1)
        #expect(started(&machine, 1) != nil)
    }

    @Test("A rate is exact after a million requests")
    func exactRate() {
        let limit = RateLimit(3, per: .seconds(1), burst: 1)
        var machine = RateMachine(limit)
        var now = Duration.zero
        for _ in 0..<1_000_000 {
            now += machine.wait(at: now)
            guard machine.take(at: now) else {
                Issue.record("There is no token at \(now).")
                return
            }
        }
        #expect(now == limit.interval * 999_999)
    }

    @Test("When the circuit opens, all requests in the line fail, and the next ones do not wait")
    func opening() {
        var settings = CircuitBreaker()
        settings.minimumOutcomes = 1
        var machine = GateMachine(OriginLimits(concurrency: 1, breaker: settings))
        guard let pass = started(&machine, 0) else { return }
        for number in 1...3 { #expect(machine.arrive(UInt64(number), .normal, at: .zero) == .wait) }
        machine.finish(pass, .failure, at: .zero)
        machine.leave()
        let open = CircuitOpen(timeLeft: .seconds(5))
        for number in 1...3 { #expect(machine.next(at: .zero) == .refuse(UInt64(number), open)) }
        #expect(machine.next(at: .zero) == nil)
        #expect(machine.arrive(4, .normal, at: .seconds(1)) == .refused(CircuitOpen(timeLeft: .seconds(4))))
        #expect(machine.isIdle)
    }

    @Test("A probe that leaves the line gives its place to the next request")
    func waitingProbe() {
        var settings = CircuitBreaker()
        settings.minimumOutcomes = 1
        var machine = GateMachine(OriginLimits(concurrency: 2, breaker: settings))
        let passes = (0..<2).compactMap { started(&machine, $0) }
        machine.finish(passes[0], .failure, at: .zero)
        machine.leave()
        #expect(machine.next(at: .zero) == nil)
        guard let long = started(&machine, 2, at: .seconds(5)) else {
            Issue.record("There is no probe.")
            return
        }
        machine.finish(long, .uncounted, at: .seconds(5))
        // Both permits are in use: the first request still runs, and the body of the second is still being read.
        #expect(machine.arrive(3, .normal, at: .seconds(5)) == .wait)
        #expect(machine.arrive(4, .normal, at: .seconds(5)) == .refused(CircuitOpen(timeLeft: nil)))
        #expect(machine.withdraw(3, at: .seconds(5)) == true)
        #expect(machine.arrive(5, .normal, at: .seconds(5)) == .wait)
    }

    @Test("A raised request leaves the line behind those of its new priority, and nothing is lowered")
    func raised() {
        var machine = GateMachine(OriginLimits(concurrency: 1))
        #expect(started(&machine, 0) != nil)
        for (number, priority) in [RequestPriority.low, .background, .high, .normal].enumerated() {
            #expect(machine.arrive(UInt64(number + 1), priority, at: .zero) == .wait)
        }
        machine.raise(2, to: .high)
        machine.raise(1, to: .normal)
        machine.raise(3, to: .background)
        machine.raise(0, to: .interactive)
        machine.raise(99, to: .interactive)
        #expect(machine.waiting == 4)
        var order: [UInt64] = []
        for _ in 0..<5 {
            machine.leave()
            if case .start(let number, _) = machine.next(at: .zero) { order.append(number) }
        }
        #expect(order == [3, 2, 4, 1])
        #expect(machine.waiting == 0)
    }

    @Test("Each number leaves a line once, by its highest priority and then its place there", arguments: 0..<10)
    func randomRaises(seed: UInt64) {
        var random = SeededNumbers(state: seed)
        var line = PriorityLine()
        /// The lines by priority, as a simple model.
        var model: [RequestPriority: [UInt64]] = [:]
        func pop() -> UInt64? {
            for priority in RequestPriority.allCases.reversed() where model[priority]?.isEmpty == false {
                return model[priority]?.removeFirst()
            }
            return nil
        }
        var last: UInt64 = 0
        for _ in 0..<400 {
            let priority = RequestPriority.allCases[Int.random(in: 0..<5, using: &random)]
            let number = UInt64.random(in: 0...last, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                last += 1
                line.append(last, priority)
                model[priority, default: []].append(last)
            case 4..<7:
                line.raise(number, to: priority)
                if let present = model.first(where: { $0.value.contains(number) })?.key, present < priority {
                    model[present]?.removeAll { $0 == number }
                    model[priority, default: []].append(number)
                }
            case 7:
                let isThere = model.values.contains { $0.contains(number) }
                #expect(line.remove(number) == isThere, "seed \(seed)")
                for key in model.keys { model[key]?.removeAll { $0 == number } }
            default: #expect(line.popFirst() == pop(), "seed \(seed)")
            }
            #expect(line.count == model.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
            #expect(line.storedCount <= 2 * line.count + 33, "seed \(seed)")
        }
        while let next = pop() { #expect(line.popFirst() == next, "seed \(seed)") }
        #expect(line.popFirst() == nil)
    }

    @Test("A line that nobody leaves does not grow through requests that are withdrawn")
    func withdrawals() {
        var line = PriorityLine()
        line.append(0, .normal)
        for number in 1...10_000 {
            line.append(UInt64(number), .high)
            #expect(line.remove(UInt64(number)) == true)
            #expect(line.storedCount < 64)
        }
        #expect(line.count == 1)
        #expect(line.popFirst() == 0)
        #expect(line.popFirst() == nil)
    }
}
