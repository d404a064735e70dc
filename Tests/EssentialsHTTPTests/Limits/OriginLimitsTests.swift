import EssentialsHTTP
import Testing

@Suite("Limits of origins")
struct OriginLimitsTests {
    @Test("The default limits nothing")
    func none() {
        #expect(OriginLimits.unlimited.isNone)
        #expect(OriginLimits.unlimited == OriginLimits())
        #expect(!OriginLimits(concurrency: 1).isNone)
        #expect(!OriginLimits(rate: RateLimit(1, per: .seconds(1))).isNone)
        #expect(!OriginLimits(breaker: .standard).isNone)
        #expect(OriginLimits.unlimited.queueLimit == 10_000)
        #expect(OriginLimits.unlimited.queueTimeout == nil)
    }

    @Test(
        "A rate outside its range counts as the nearest one",
        arguments: [
            (RateLimit(0, per: .seconds(1)), RateLimit(1, per: .seconds(1), burst: 1)),
            (RateLimit(.min, per: .seconds(-1), burst: .min), RateLimit(1, per: .milliseconds(1), burst: 1)),
            (
                RateLimit(.max, per: .seconds(Int64.max), burst: .max),
                RateLimit(1_000_000, per: .seconds(366 * 86_400), burst: 1_000_000)
            ),
        ])
    func rateRange(rate: RateLimit, expected: RateLimit) {
        #expect(rate == expected)
        var machine = RateMachine(rate)
        #expect(machine.take(at: .zero) == true)
        #expect(machine.tokens(at: .zero) == rate.burst - 1)
    }

    @Test("The burst of a rate is its count unless it is given")
    func burst() {
        #expect(RateLimit(10, per: .seconds(1)).burst == 10)
        #expect(RateLimit(10, per: .seconds(1), burst: 2).burst == 2)
        #expect(RateLimit(10, per: .seconds(1)).interval == .milliseconds(100))
    }

    @Test("Numbers outside their range count as the nearest ones")
    func extremes() {
        var limits = OriginLimits(concurrency: -3)
        limits.queueLimit = -1
        var machine = GateMachine(limits)
        guard case .start = machine.arrive(1, .normal, at: .zero) else {
            Issue.record("The request did not start.")
            return
        }
        #expect(machine.arrive(2, .normal, at: .zero) == .full)
    }

    @Test("The standard circuit breaker needs half of twenty outcomes in ten seconds, and opens for 5 to 60 seconds")
    func breaker() {
        let breaker = CircuitBreaker.standard
        #expect(breaker.failureRatio == 0.5)
        #expect(breaker.minimumOutcomes == 20)
        #expect(breaker.window == .seconds(10))
        #expect(breaker.openTime == .seconds(5))
        #expect(breaker.longestOpenTime == .seconds(60))
    }

    @Test("A state is created from its parts")
    func state() {
        let state = OriginLimits.State(permitsInUse: 1, waiting: 2, rateTokensLeft: 3, circuit: .halfOpen)
        #expect(state.permitsInUse == 1)
        #expect(state.waiting == 2)
        #expect(state.rateTokensLeft == 3)
        #expect(state.circuit == .halfOpen)
        #expect(OriginLimits.State().circuit == .closed)
    }
}
