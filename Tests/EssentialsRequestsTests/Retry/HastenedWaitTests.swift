import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import Testing

@Suite("Waits that end when the network returns", .timeLimit(.minutes(5)))
struct HastenedWaitTests {
    private static let unreachable = RetryFixture.Outcome.failure(.connection, .unsent, .connect)

    private let reachability = ControlledReachability(.unreachable(.noRoute))

    /// A policy with waits of at least ten minutes.
    private var slow: RetryPolicy {
        var policy = RetryPolicy.standard.whenReachable
        policy.backoff = .decorrelated(base: .seconds(600), cap: .seconds(900))
        return policy
    }

    /// Lets the network return until this many tasks sleep. The return is repeated, because a request that does not
    /// listen yet does not notice it.
    private func returnNetwork(_ clock: ManualClock, untilSleepers count: Int) async {
        await until {
            reachability.set(.unreachable(.noRoute))
            reachability.set(.local)
            return clock.sleeperCount == count
        }
    }

    @Test("Requests that wait for the network are sent at different times within a second after its return")
    func spread() async throws {
        let count = 20
        let outcomes = Array(repeating: Self.unreachable, count: count) + [.status(200)]
        let fixture = try RetryFixture(outcomes, retry: slow) { configuration in
            configuration.reachability = reachability
            configuration.retryBudget.initial = 100
        }
        let requests = (0..<count).map { _ in Task { try await fixture.service.send(DataRequest(.get, "a")) } }
        await fixture.clock.waitForSleepers(count: count)
        let event = fixture.clock.now
        // Each request now has its own wait and the short one.
        await returnNetwork(fixture.clock, untilSleepers: 2 * count)
        #expect(fixture.attempts == count)
        var moments: [Duration] = []
        while fixture.attempts < 2 * count {
            let moment = try #require(fixture.clock.advanceToNextDeadline())
            moments.append(event.duration(to: moment))
            // A request that is sent again has ended both of its waits.
            await until { 2 * fixture.attempts + fixture.clock.sleeperCount == 4 * count }
        }
        for request in requests { #expect(try await request.value.attempts == 2) }
        #expect(fixture.clock.sleeperCount == 0)
        #expect(moments.allSatisfy { $0 <= .seconds(1) })
        #expect(moments.count > count / 2)
        let (first, last) = (try #require(moments.first), try #require(moments.last))
        #expect(last - first > .milliseconds(500))
    }

    @Test("A wait that would soon be over is not made longer by the return of the network", arguments: [1, 300, 900])
    func neverLonger(rest: Int) async throws {
        let fixture = try RetryFixture([Self.unreachable, .status(200)], retry: slow) {
            $0.reachability = reachability
        }
        let task = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        let deadline = try #require(fixture.clock.nextDeadline)
        fixture.clock.advance(to: deadline.advanced(by: .milliseconds(-rest)))
        await returnNetwork(fixture.clock, untilSleepers: 2)
        fixture.clock.advance(to: deadline)
        #expect(try await task.value.attempts == 2)
        #expect(fixture.clock.now == deadline)
        #expect(fixture.clock.sleeperCount == 0)
    }
}
