import EssentialsHTTP
import Testing

@Suite("Circuit breaker")
struct BreakerMachineTests {
    private var machine = BreakerMachine(.standard)

    /// Ends this many requests, one every 10 ms, and returns the time after the last one.
    @discardableResult
    private mutating func end(
        _ count: Int, _ outcome: BreakerMachine.Outcome, from start: Duration = .zero
    ) -> Duration {
        for index in 0..<count { machine.run(outcome, at: start + .milliseconds(10 * index)) }
        return start + .milliseconds(10 * count)
    }

    @Test("The circuit opens when half of at least twenty outcomes are failures")
    mutating func opens() {
        let now = end(10, .success)
        end(9, .failure, from: now)
        #expect(machine.refusal(at: .seconds(1)) == nil)
        #expect(machine.run(.failure, at: .seconds(1)) == true)
        #expect(machine.refusal(at: .seconds(1)) == CircuitOpen(timeLeft: .seconds(5)))
        #expect(machine.refusal(at: .seconds(4)) == CircuitOpen(timeLeft: .seconds(2)))
        #expect(machine.shown(at: .seconds(4)) == .open(timeLeft: .seconds(2)))
    }

    @Test("Fewer than half failures leave the circuit closed, and so do fewer than twenty outcomes")
    mutating func staysClosed() {
        end(19, .failure)
        #expect(machine.shown(at: .seconds(1)) == .closed)
        machine = BreakerMachine(.standard)
        let now = end(101, .success)
        end(100, .failure, from: now)
        #expect(machine.shown(at: .seconds(3)) == .closed)
    }

    @Test("Outcomes that are not counted never open the circuit and never keep it closed")
    mutating func uncounted() {
        end(1_000, .uncounted)
        end(19, .failure)
        #expect(machine.shown(at: .seconds(1)) == .closed)
        end(1, .failure)
        #expect(machine.shown(at: .seconds(1)) == .open(timeLeft: .seconds(4)))
    }

    @Test("Failures that are more than ten seconds old do not count")
    mutating func window() {
        end(19, .failure)
        end(19, .failure, from: .seconds(10.5))
        #expect(machine.shown(at: .seconds(11)) == .closed)
        end(1, .failure, from: .seconds(11))
        #expect(machine.shown(at: .seconds(11)) == .open(timeLeft: .seconds(5)))
    }

    @Test("The circuit is open for 5, 10, 20, 40 and then 60 seconds while its probes fail")
    mutating func doubling() {
        end(20, .failure)
        var now = Duration.milliseconds(190)
        for time in [5, 10, 20, 40, 60, 60] {
            #expect(machine.refusal(at: now) == CircuitOpen(timeLeft: .seconds(time)))
            now += .seconds(time)
            #expect(machine.shown(at: now) == .halfOpen)
            #expect(machine.refusal(at: now) == nil)
            #expect(machine.run(.failure, at: now) == true)
        }
    }

    @Test("A successful probe closes the circuit, and the next opening lasts 5 seconds again")
    mutating func closes() {
        end(20, .failure)
        machine.run(.failure, at: .seconds(10))
        #expect(machine.refusal(at: .seconds(10)) == CircuitOpen(timeLeft: .seconds(10)))
        #expect(machine.run(.success, at: .seconds(20)) == false)
        #expect(machine.shown(at: .seconds(20)) == .closed)
        // The failures from before are forgotten.
        end(19, .failure, from: .seconds(20))
        #expect(machine.shown(at: .seconds(21)) == .closed)
        end(1, .failure, from: .seconds(21))
        #expect(machine.refusal(at: .seconds(21)) == CircuitOpen(timeLeft: .seconds(5)))
    }

    @Test("Only one probe is sent, and another one after it was cancelled")
    mutating func oneProbe() {
        end(20, .failure)
        let probe = machine.pass()
        #expect(probe.isProbe)
        #expect(machine.refusal(at: .seconds(10)) == CircuitOpen(timeLeft: nil))
        #expect(machine.shown(at: .seconds(10)) == .halfOpen)
        #expect(machine.end(probe, .uncounted, at: .seconds(10)) == false)
        #expect(machine.refusal(at: .seconds(10)) == nil)
        let second = machine.pass()
        #expect(second.isProbe)
        #expect(machine.refusal(at: .seconds(10)) == CircuitOpen(timeLeft: nil))
    }

    @Test("Outcomes of requests from before the last change of state do not count")
    mutating func olderOutcomes() {
        let old = (0..<100).map { _ in machine.pass() }
        end(20, .failure)
        // Successes from before the circuit opened do not close it.
        for ticket in old.prefix(30) { _ = machine.end(ticket, .success, at: .seconds(1)) }
        #expect(machine.shown(at: .seconds(1)) == .open(timeLeft: .milliseconds(4_190)))
        let probe = machine.pass()
        for ticket in old[30..<60] { _ = machine.end(ticket, .success, at: .seconds(6)) }
        #expect(machine.shown(at: .seconds(6)) == .halfOpen)
        _ = machine.end(probe, .success, at: .seconds(6))
        // Failures from before it closed do not open it again.
        for ticket in old[60...] { _ = machine.end(ticket, .failure, at: .seconds(6)) }
        #expect(machine.shown(at: .seconds(6)) == .closed)
    }

    @Test(
        "Settings outside their range count as the nearest value",
        arguments: [(-1.0, 1), (0, 1), (.nan, 20), (7, 20)])
    func extremeRatios(ratio: Double, expected: Int) {
        var settings = CircuitBreaker()
        settings.failureRatio = ratio
        settings.longestOpenTime = .seconds(-1)
        settings.window = .zero
        var machine = BreakerMachine(settings)
        for _ in 0..<20 - expected { machine.run(.failure, at: .zero) }
        for _ in 0..<expected - 1 { #expect(machine.run(.failure, at: .zero) == false) }
        if ratio <= 0 || ratio.isNaN || ratio > 1 { #expect(machine.run(.failure, at: .zero) == true) }
        #expect(machine.shown(at: .zero) == .halfOpen)
    }
}

extension BreakerMachine {
    /// Lets one request through and ends it at once.
    @discardableResult
    fileprivate mutating func run(_ outcome: Outcome, at now: Duration) -> Bool {
        let ticket = pass()
        return end(ticket, outcome, at: now)
    }
}
