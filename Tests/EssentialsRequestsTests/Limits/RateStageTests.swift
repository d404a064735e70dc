import EssentialsHTTP
import EssentialsTestKit
import Testing

@testable import EssentialsRequests

@Suite("A rate in the chain", .timeLimit(.minutes(5)))
struct RateStageTests {
    private let fixture = ChainFixture {
        $0.limits = OriginLimits(rate: RateLimit(1, per: .seconds(1), burst: 2))
    }

    @Test("Requests over the burst wait for the rate, in order")
    func pace() async throws {
        fixture.transport.on(.get, "/**").answer()
        for number in 0..<2 { try await fixture.send(.get, "/\(number)") }
        #expect(try fixture.state.rateTokensLeft == 0)
        var requests: [Task<Result<DataResponse, RequestFailure>, Never>] = []
        for number in 2..<5 {
            requests.append(fixture.begin("/\(number)"))
            try await until { try fixture.state.waiting == number - 1 }
        }
        for sent in 2..<5 {
            // One sleeper for the rate, and one for the timeout of each wait.
            await until { fixture.clock.sleeperCount == 6 - sent }
            fixture.clock.advance(by: .milliseconds(999))
            #expect(try fixture.state.waiting == 5 - sent)
            fixture.clock.advance(by: .milliseconds(1))
            #expect(await requests[sent - 2].value.failure == nil)
        }
        #expect(fixture.transport.requests.map { String($0.url.path) } == (0..<5).map { "/\($0)" })
        #expect(try fixture.state == OriginLimits.State(rateTokensLeft: 0))
        await until { fixture.clock.sleeperCount == 0 }
        fixture.clock.advance(by: .seconds(5))
        #expect(try fixture.state.rateTokensLeft == 2)
    }

    @Test("A wait for the rate that is cancelled takes no token and leaves no timer")
    func cancelled() async throws {
        fixture.transport.on(.get, "/a").answer()
        for _ in 0..<2 { try await fixture.send() }
        let waiting = fixture.begin()
        try await until { try fixture.state.waiting == 1 }
        waiting.cancel()
        #expect(await waiting.value.failure?.reason == .cancelled)
        await until { fixture.clock.sleeperCount == 0 }
        fixture.clock.advance(by: .seconds(1))
        #expect(try fixture.state == OriginLimits.State(rateTokensLeft: 1))
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A request that would have to wait for the rate longer than it may fails as a timeout")
    func timeout() async throws {
        fixture.transport.on(.get, "/a").answer()
        for _ in 0..<2 { try await fixture.send() }
        let waiting = fixture.begin { $0.options.queueTimeout = .milliseconds(500) }
        try await until { try fixture.state.waiting == 1 }
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .milliseconds(500))
        #expect(await waiting.value.failure?.reason == .timeout)
        #expect(try fixture.state == OriginLimits.State(rateTokensLeft: 0))
    }

    @Test("Rate and concurrency hold together")
    func both() async throws {
        let fixture = ChainFixture {
            $0.limits = OriginLimits(concurrency: 1, rate: RateLimit(1, per: .seconds(1), burst: 1))
        }
        fixture.transport.on(.get, "/a").answer(after: .seconds(3))
        let requests = (0..<2).map { _ in fixture.begin() }
        try await until { try fixture.state.waiting == 1 }
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(2))
        // The rate allows the second request, but the first one still runs.
        #expect(try fixture.state == OriginLimits.State(permitsInUse: 1, waiting: 1, rateTokensLeft: 1))
        fixture.clock.advance(by: .seconds(1))
        await until { fixture.transport.requestCount == 2 }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(3))
        for request in requests { #expect(await request.value.failure == nil) }
    }
}
