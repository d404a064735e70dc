import EssentialsHTTP
import TestTools
import Testing

@Suite struct RetryMachineTests {
    private static let refused = RetryRules.Outcome.failure(
        RequestFailure(.connection, "x", phase: .connect, transmission: .unsent))

    private func machine(_ policy: RetryPolicy, isIdempotent: Bool = true, isReplayable: Bool = true) -> RetryMachine {
        RetryMachine(policy, RetryMachine.Request(isIdempotent: isIdempotent, isReplayable: isReplayable))
    }

    private func moment(
        _ attempt: Int = 1, elapsed: Duration = .zero, remaining: Duration? = nil, random: UInt64 = .max
    ) -> RetryMachine.Moment {
        RetryMachine.Moment(attempt: attempt, elapsed: elapsed, remaining: remaining, random: random)
    }

    private func retry(_ action: RetryMachine.Action) throws -> RetryMachine.Retry {
        guard case .retry(let retry) = action else { throw NoRetry(action: action) }
        return retry
    }

    private struct NoRetry: Error { var action: RetryMachine.Action }

    @Test("The number of attempts includes the first one")
    func attempts() throws {
        var machine = machine(.attempts(3))
        _ = try retry(machine.failed(Self.refused, moment(1)))
        _ = try retry(machine.failed(Self.refused, moment(2)))
        #expect(machine.failed(Self.refused, moment(3)) == .stop(.limit))
    }

    @Test("A policy for a time retries until a retry would begin too late")
    func within() throws {
        var policy = RetryPolicy.within(.seconds(10))
        policy.backoff = .exponential(base: .seconds(2), cap: .seconds(2))
        var machine = machine(policy)
        // The bound of the backoff, and a tenth of it.
        #expect(try retry(machine.failed(Self.refused, moment(1))).wait == .milliseconds(2_200))
        _ = try retry(machine.failed(Self.refused, moment(50, elapsed: .milliseconds(7_700))))
        #expect(machine.failed(Self.refused, moment(51, elapsed: .milliseconds(7_800))) == .stop(.limit))
    }

    @Test("A policy without a limit goes on after a million attempts")
    func forever() throws {
        var machine = machine(.forever)
        for attempt in [1, 2, 1_000_000] { _ = try retry(machine.failed(Self.refused, moment(attempt))) }
    }

    @Test("Only a policy without a limit waits until an open circuit closes")
    func openCircuit() throws {
        let open = RequestFailure(
            .circuitOpen, "x", phase: .queue, underlying: CircuitOpen(timeLeft: .seconds(60)))
        var (patient, other) = (machine(.forever, isIdempotent: false), machine(.attempts(9)))
        #expect(try retry(patient.failed(.failure(open), moment(random: 0))).wait == .seconds(60))
        #expect(other.failed(.failure(open), moment()) == .stop(.notRetriable))
    }

    @Test("A wait for an open circuit takes no unit of the budget, and a retry takes one")
    func freeWait() throws {
        var machine = machine(.forever)
        for time in [Duration.seconds(60), nil] {
            let open = RequestFailure(.circuitOpen, "x", phase: .queue, underlying: CircuitOpen(timeLeft: time))
            #expect(try !retry(machine.failed(.failure(open), moment())).takesUnit)
        }
        #expect(try retry(machine.failed(Self.refused, moment())).takesUnit)
        #expect(try retry(machine.failed(.status(503, retryAfter: nil), moment())).takesUnit)
    }

    @Test("A request that waits for the end of a probe waits for a while, even if the policy has no backoff")
    func probeWait() throws {
        var policy = RetryPolicy.forever
        policy.backoff = .exponential(base: .zero)
        var machine = machine(policy)
        let probing = RequestFailure(.circuitOpen, "x", phase: .queue, underlying: CircuitOpen(timeLeft: nil))
        for _ in 0..<3 {
            #expect(try retry(machine.failed(.failure(probing), moment(random: 0))).wait == .milliseconds(100))
        }
    }

    @Test("The wait is the longer one of the backoff and the server's Retry-After, and up to a tenth or a second more")
    func retryAfter() throws {
        let cases: [(Duration?, UInt64, Duration)] = [
            (nil, 0, .zero), (nil, .max, .milliseconds(220)), (.seconds(5), 0, .seconds(5)),
            (.seconds(5), .max, .milliseconds(5_500)), (.seconds(30), .max, .seconds(31)),
            (.zero, .max, .milliseconds(220)),
        ]
        for (requested, random, expected) in cases {
            var machine = machine(.standard)
            let action = machine.failed(.status(503, retryAfter: requested), moment(random: random))
            #expect(try retry(action).wait == expected)
        }
    }

    @Test("A longer Retry-After than the policy waits for ends the retries and keeps the time")
    func longWait() {
        var machine = machine(.standard)
        let action = machine.failed(.status(503, retryAfter: .seconds(31)), moment())
        #expect(action == .stop(.longWait(.seconds(31))))
    }

    @Test("A wait that leaves no time before the deadline ends the retries")
    func deadline() throws {
        var (early, late) = (machine(.standard), machine(.standard))
        let outcome = RetryRules.Outcome.status(503, retryAfter: .seconds(5))
        _ = try retry(early.failed(outcome, moment(remaining: .seconds(6))))
        #expect(late.failed(outcome, moment(remaining: .seconds(5))) == .stop(.deadline))
    }

    @Test("A body that cannot be read again ends the retries")
    func replay() {
        var machine = machine(.standard, isReplayable: false)
        #expect(machine.failed(Self.refused, moment()) == .stop(.notReplayable))
    }

    @Test("408, 421, 425 and a refused request are retried once", arguments: [408, 421, 425, 0])
    func once(status: Int) throws {
        let refused = RequestFailure(.interrupted, "x", phase: .waiting, transmission: .refused)
        let outcome: RetryRules.Outcome = status == 0 ? .failure(refused) : .status(status, retryAfter: nil)
        var machine = machine(.attempts(9))
        let first = try retry(machine.failed(outcome, moment(1)))
        #expect(first.needsFreshConnection == (status == 408 || status == 421))
        #expect((first.wait == .zero) == (status == 421))
        #expect(machine.failed(outcome, moment(2)) == .stop(.notRetriable))
        _ = try retry(machine.failed(.status(503, retryAfter: nil), moment(2)))
    }

    @Test("A refused request is retried although its method is not idempotent")
    func refusedPost() throws {
        let refused = RequestFailure(.interrupted, "x", phase: .waiting, transmission: .refused)
        var machine = machine(.standard, isIdempotent: false)
        _ = try retry(machine.failed(.failure(refused), moment(1)))
    }

    @Test("Reachability shortens only the wait after a connection that failed")
    func hastened() throws {
        let sent = RetryRules.Outcome.failure(RequestFailure(.interrupted, "x", phase: .waiting, transmission: .sent))
        let cases: [(RetryPolicy, RetryRules.Outcome, Bool)] = [
            (.standard.whenReachable, Self.refused, true), (.standard, Self.refused, false),
            (.standard.whenReachable, sent, false), (.standard.whenReachable, .status(503, retryAfter: nil), false),
        ]
        for (policy, outcome, expected) in cases {
            var machine = machine(policy)
            #expect(try retry(machine.failed(outcome, moment())).isHastened == expected)
        }
    }

    @Test("A closure forbids and postpones retries")
    func forbids() throws {
        var machine = machine(.attempts(9))
        #expect(machine.failed(Self.refused, moment()) { _, _ in .stop } == .stop(.decided))
        let later = machine.failed(Self.refused, moment()) { _, _ in .retryAfter(.seconds(9)) }
        #expect(try retry(later).wait == .seconds(9))
        let sooner = machine.failed(.status(503, retryAfter: .seconds(5)), moment(random: 0)) { wait, isRetriable in
            #expect((wait, isRetriable) == (.seconds(5), true))
            return .retryAfter(.seconds(1))
        }
        #expect(try retry(sooner).wait == .seconds(5))
    }

    @Test("A closure allows further statuses for requests that may be sent twice, and nothing more")
    func allows() throws {
        let conflict = RetryRules.Outcome.status(409, retryAfter: nil)
        var get = machine(.standard)
        _ = try retry(get.failed(conflict, moment()) { _, isRetriable in isRetriable ? .stop : .retry })
        var post = machine(.standard, isIdempotent: false)
        #expect(post.failed(conflict, moment()) { _, _ in .retry } == .stop(.notRetriable))
        let sent = RequestFailure(.interrupted, "x", phase: .waiting, transmission: .sent)
        #expect(post.failed(.failure(sent), moment()) { _, _ in .retryAfter(.zero) } == .stop(.notRetriable))
        var stream = machine(.standard, isReplayable: false)
        #expect(stream.failed(conflict, moment()) { _, _ in .retry } == .stop(.notReplayable))
        var wrong = machine(.standard)
        let mismatch = RetryRules.Outcome.failure(RequestFailure(.pinMismatch, "x", transmission: .unsent))
        #expect(wrong.failed(mismatch, moment()) { _, _ in .retry } == .stop(.notRetriable))
    }

    @Test("Random sequences keep all limits", arguments: 1...20)
    func random(seed: Int) {
        var numbers = SeededNumbers(state: UInt64(seed))
        for _ in 0..<500 {
            let limit = Int.random(in: 1...6, using: &numbers)
            var policy = RetryPolicy.attempts(limit)
            if Bool.random(using: &numbers) { policy.backoff = .decorrelated() }
            let isIdempotent = Bool.random(using: &numbers)
            var machine = machine(policy, isIdempotent: isIdempotent)
            var (attempt, hasUnknownFate) = (1, false)
            while true {
                let transmission = [RequestFailure.Transmission.unsent, .sent, .refused].randomElement(using: &numbers)
                let status = [408, 421, 425, 429, 500, 502, 503].randomElement(using: &numbers)
                let after =
                    Bool.random(using: &numbers) ? Duration.seconds(Int.random(in: 0...40, using: &numbers)) : nil
                let isStatus = Bool.random(using: &numbers)
                let outcome: RetryRules.Outcome =
                    isStatus
                    ? .status(status ?? 503, retryAfter: after)
                    : .failure(RequestFailure(.interrupted, "x", phase: .waiting, transmission: transmission))
                let isProcessed = isStatus ? ![421, 429].contains(status) : transmission == .sent
                let remaining = Duration.seconds(Int.random(in: 1...60, using: &numbers))
                guard
                    case .retry(let retry) = machine.failed(
                        outcome, moment(attempt, remaining: remaining, random: numbers.next()))
                else { break }
                hasUnknownFate = hasUnknownFate || isProcessed
                attempt += 1
                #expect(attempt <= limit, "seed \(seed)")
                #expect(retry.wait >= .zero && retry.wait < remaining, "seed \(seed)")
                #expect(retry.wait <= .seconds(31), "seed \(seed)")
                if isStatus, let after { #expect(retry.wait >= after, "seed \(seed)") }
                #expect(isIdempotent || !hasUnknownFate, "seed \(seed)")
            }
        }
    }
}
