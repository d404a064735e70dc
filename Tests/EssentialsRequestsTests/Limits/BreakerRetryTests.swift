import EssentialsHTTP
import EssentialsTestKit
import Testing

@testable import EssentialsRequests

@Suite("A circuit breaker together with retries", .timeLimit(.minutes(5)))
struct BreakerRetryTests {
    /// A service that retries forever, and whose circuits open at the second failure.
    private func makeFixture(
        _ outcomes: [RetryFixture.Outcome], _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> RetryFixture {
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = 2
        return try RetryFixture(outcomes, retry: .forever) {
            $0.limits.breaker = breaker
            change(&$0)
        }
    }

    @Test("A request that is retried forever waits while the circuit is open, and succeeds after that")
    func waits() async throws {
        let fixture = try makeFixture([.status(503), .status(503), .status(200)])
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        var single = DataRequest(.get, "a")
        single.retry = .never
        for _ in 0..<2 { _ = try? await fixture.service.send(single) }
        #expect(limits.state(of: origin).circuit == .open(timeLeft: .seconds(5)))
        let patient = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(single) }
        #expect(failure?.reason == .circuitOpen)
        fixture.clock.advance(by: .milliseconds(4_999))
        #expect(fixture.clock.sleeperCount == 1)
        #expect(fixture.attempts == 2)
        fixture.clock.advanceToNextDeadline()
        #expect(try await patient.value.status == .ok)
        #expect(fixture.attempts == 3)
        #expect(limits.state(of: origin) == OriginLimits.State())
        #expect(try await fixture.service.send(single).status == .ok)
    }

    @Test("A request that waits for an open circuit takes nothing from the retry budget")
    func budget() async throws {
        let fixture = try makeFixture([.status(503), .status(503), .status(200)]) {
            $0.retryBudget.initial = 0
            $0.retryBudget.reservePerSecond = 0
        }
        var single = DataRequest(.get, "a")
        single.retry = .never
        for _ in 0..<2 { _ = try? await fixture.service.send(single) }
        let (result, waited) = await fixture.send()
        #expect(try result.get().status == .ok)
        #expect(waited >= .seconds(5))
        #expect(fixture.attempts == 3)
    }

    @Test("A request that is retried forever waits again if its probe fails")
    func waitsAgain() async throws {
        let fixture = try makeFixture([.status(503), .status(503), .status(503), .status(200)])
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        let (result, waited) = await fixture.send()
        #expect(try result.get().status == .ok)
        // The circuit is open for 5 seconds, and for 10 seconds after the failed probe.
        #expect(waited >= .seconds(15))
        #expect(waited < .seconds(20))
        #expect(fixture.attempts == 4)
        #expect(limits.state(of: origin) == OriginLimits.State())
    }
}
