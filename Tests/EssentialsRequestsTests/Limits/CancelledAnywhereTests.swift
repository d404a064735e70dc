import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Limited and joined requests that are cancelled at any time", .timeLimit(.minutes(5)))
struct CancelledAnywhereTests {
    private static func fixture(
        _ change: @escaping (inout HTTPDataRequestService.Configuration) -> Void
    ) -> ChainFixture {
        let transport = StubTransport { request throws(RequestFailure) in
            // Three suspensions on the way, at each of which the request may be cancelled.
            for _ in 0..<3 {
                await Task.yield()
                guard !Task.isCancelled else { throw RequestFailure(.cancelled, "The request was cancelled.") }
            }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("x".utf8)))
        }
        return ChainFixture(over: transport, change)
    }

    private static func all(_ configuration: inout HTTPDataRequestService.Configuration) {
        configuration.limits = OriginLimits(
            concurrency: 1, rate: RateLimit(1_000_000, per: .milliseconds(1)), breaker: .standard)
        configuration.joins = true
    }

    private func isUnused(_ fixture: ChainFixture) async throws {
        try await until {
            let state = try fixture.state
            return state.permitsInUse == 0 && state.waiting == 0
        }
        await until { fixture.settings.joins?.usage ?? (0, 0) == (0, 0) }
        await until { fixture.clock.sleeperCount == 0 }
        #expect(try fixture.state.circuit == .closed)
    }

    @Test(
        "A request that is cancelled at any suspension ends once, and nothing of it is left", arguments: [true, false])
    func everySuspension(byTask: Bool) async throws {
        let fixture = Self.fixture(Self.all)
        var cancelled = 0
        for yields in 0..<60 {
            // One request before it, one equal request beside it, and one behind it in the line.
            let others = [fixture.begin("/first"), fixture.begin("/a"), fixture.begin("/last")]
            let cancellation = Cancellation()
            let request = fixture.begin("/a", cancellation: cancellation)
            for _ in 0..<yields { await Task.yield() }
            if byTask { request.cancel() } else { cancellation.cancel() }
            switch await request.value {
            case .success(let response): #expect(response.status == .ok)
            case .failure(let failure):
                #expect(failure.reason == .cancelled)
                cancelled += 1
            }
            for other in others { #expect(await other.value.failure == nil) }
            try await isUnused(fixture)
        }
        #expect(cancelled > 0)
    }

    @Test(
        "Of a thousand requests that race with their cancellation, each ends once, and nothing is left",
        arguments: 1...UInt64(Rounds.racing(6)))
    func race(seed: UInt64) async throws {
        let fixture = Self.fixture(Self.all)
        var numbers = SeededNumbers(state: seed)
        let cancellations = (0..<1_000).map { _ in Cancellation() }
        let requests = cancellations.map { cancellation in
            fixture.begin("/\(Int.random(in: 0..<20, using: &numbers))", cancellation: cancellation)
        }
        let order = Array(requests.indices).shuffled(using: &numbers)
        let byTask = Set(order.prefix(300))
        for index in order where index % 3 != 0 {
            if byTask.contains(index) { requests[index].cancel() } else { cancellations[index].cancel() }
            if index % 7 == 0 { await Task.yield() }
        }
        for (index, request) in requests.enumerated() {
            let failure = await request.value.failure
            if index % 3 == 0 { #expect(failure == nil, "seed \(seed)") }
            #expect(failure == nil || failure?.reason == .cancelled, "seed \(seed)")
        }
        try await isUnused(fixture)
    }
}
