import EssentialsHTTP
import EssentialsTestKit
import Testing

@testable import EssentialsRequests

@Suite("A circuit breaker in the chain", .timeLimit(.minutes(5)))
struct BreakerStageTests {
    private static func fixture(_ concurrency: Int? = nil, outcomes: Int = 2) -> ChainFixture {
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = outcomes
        return ChainFixture { $0.limits = OriginLimits(concurrency: concurrency, breaker: breaker) }
    }

    @Test(
        "Failures of the server open the circuit",
        arguments: [
            ScriptedAnswer.failure(.connection), .failure(.nameResolution), .failure(.timeout), .failure(.interrupted),
            ScriptedAnswer(.badGateway), ScriptedAnswer(.serviceUnavailable), ScriptedAnswer(.gatewayTimeout),
        ])
    func opens(answer: ScriptedAnswer) async throws {
        let fixture = Self.fixture()
        fixture.transport.on(.get, "/a").answer(answer)
        for _ in 0..<2 { _ = await fixture.begin().value }
        #expect(try fixture.state.circuit == .open(timeLeft: .seconds(5)))
        fixture.clock.advance(by: .milliseconds(800))
        let failure = await fixture.begin().value.failure
        #expect(failure?.reason == .circuitOpen)
        #expect(failure?.phase == .queue)
        #expect(failure?.host == "h")
        #expect(failure?.underlying as? CircuitOpen == CircuitOpen(timeLeft: .milliseconds(4_200)))
        #expect(failure?.message == "So many requests to https://h have failed that none is sent for 5.0 seconds.")
        #expect(failure?.remedy == "Try again in 5.0 seconds; the server seems to be down.")
        #expect(failure.map { "\($0)" }?.contains("Caused by") == false)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(
        "Responses other than 502 to 504, failures of the request itself and cancellations leave the circuit closed",
        arguments: [
            ScriptedAnswer(.notFound), ScriptedAnswer(.tooManyRequests), ScriptedAnswer(.internalServerError),
            .failure(.cancelled), .failure(.pinMismatch), .failure(.tooLarge), .failure(.timeout, phase: .queue),
            .failure(.proxy), .failure(.tls),
        ])
    func staysClosed(answer: ScriptedAnswer) async throws {
        let fixture = Self.fixture()
        fixture.transport.on(.get, "/a").answer(answer)
        for _ in 0..<10 { _ = await fixture.begin().value }
        #expect(try fixture.state == OriginLimits.State())
        #expect(fixture.transport.requestCount == 10)
    }

    @Test("Each reason is a failure of the server or is not counted", arguments: RequestFailure.Reason.all)
    func reasons(reason: RequestFailure.Reason) {
        let failures: Set<RequestFailure.Reason> = [.connection, .nameResolution, .timeout, .interrupted]
        let outcome = BreakerMachine.Outcome(RequestFailure(reason, "No.", phase: .waiting))
        #expect(outcome == (failures.contains(reason) ? .failure : .uncounted))
    }

    @Test("After the time one probe is sent, the others fail, and its success closes the circuit")
    func probe() async throws {
        let fixture = Self.fixture()
        fixture.transport.on(.get, "/a").answer(.badGateway).thenAnswer(.badGateway).thenAnswer(after: .seconds(1))
        for _ in 0..<2 { try await fixture.send() }
        fixture.clock.advance(by: .seconds(5))
        #expect(try fixture.state.circuit == .halfOpen)
        let probe = fixture.begin()
        await until { fixture.transport.requestCount == 3 }
        let failure = await fixture.begin().value.failure
        #expect(failure?.reason == .circuitOpen)
        #expect(failure?.underlying as? CircuitOpen == CircuitOpen(timeLeft: nil))
        #expect(failure?.message == "So many requests to https://h have failed that only one is sent, as a probe.")
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(await probe.value.failure == nil)
        #expect(try fixture.state == OriginLimits.State())
        #expect(fixture.transport.requestCount == 3)
    }

    @Test("A probe that is cancelled gives its place to the next request, and one that fails doubles the time")
    func cancelledProbe() async throws {
        let fixture = Self.fixture()
        fixture.transport.on(.get, "/a").answer(.badGateway).thenAnswer(.badGateway).thenAnswer(after: .seconds(1))
            .thenAnswer(.badGateway)
        for _ in 0..<2 { try await fixture.send() }
        fixture.clock.advance(by: .seconds(5))
        let cancellation = Cancellation()
        let probe = fixture.begin(cancellation: cancellation)
        await until { fixture.transport.requestCount == 3 }
        cancellation.cancel()
        #expect(await probe.value.failure?.reason == .cancelled)
        #expect(try fixture.state.circuit == .halfOpen)
        try await fixture.send()
        #expect(try fixture.state.circuit == .open(timeLeft: .seconds(10)))
    }

    @Test("Requests in the line fail when the circuit opens")
    func waiting() async throws {
        let fixture = Self.fixture(1, outcomes: 1)
        fixture.transport.on(.get, "/a").answer(.badGateway, after: .seconds(1))
        let requests = (0..<4).map { _ in fixture.begin() }
        try await until { try fixture.state.waiting == 3 }
        await fixture.clock.waitForSleepers(count: 4)
        fixture.clock.advance(by: .seconds(1))
        var reasons: [RequestFailure.Reason] = []
        for request in requests { if let failure = await request.value.failure { reasons.append(failure.reason) } }
        #expect(reasons == [.circuitOpen, .circuitOpen, .circuitOpen])
        #expect(fixture.transport.requestCount == 1)
        #expect(try fixture.state == OriginLimits.State(circuit: .open(timeLeft: .seconds(5))))
        await until { fixture.clock.sleeperCount == 0 }
    }

    @Test("The outcome of a streamed response is that of its head")
    func streams() async throws {
        let fixture = Self.fixture()
        fixture.transport.on(.get, "/a").answer(.badGateway, pieces: ["a"])
        var bodies: [ResponseBody] = []
        for _ in 0..<2 { bodies.append(try await fixture.send { $0.options.delivery = .streamed }.response.body) }
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 2, circuit: .open(timeLeft: .seconds(5))))
        bodies = []
        #expect(try fixture.state.permitsInUse == 0)
    }
}
