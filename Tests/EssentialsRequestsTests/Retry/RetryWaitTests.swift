import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import Testing

@Suite struct RetryWaitTests {
    private static let unreachable = RetryFixture.Outcome.failure(.connection, .unsent, .connect)

    private func slow(_ limit: Int = 3) -> RetryPolicy {
        var policy = RetryPolicy.attempts(limit)
        // The first random number of the clock is the same in each run, and gives a wait of minutes.
        policy.backoff = .decorrelated(base: .seconds(600), cap: .seconds(900))
        return policy
    }

    @Test("A request that is cancelled while it waits for its next attempt ends at once")
    func cancelled() async throws {
        let fixture = try RetryFixture([Self.unreachable], retry: slow())
        let task = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.clock.sleeperCount == 0)
        #expect(fixture.attempts == 1)
        #expect(fixture.service.requestsInFlight == 0)
    }

    @Test("A token ends the wait for the next attempt")
    func token() async throws {
        let fixture = try RetryFixture([Self.unreachable], retry: slow())
        let failure: RequestFailure? = await withCheckedContinuation { continuation in
            let token = fixture.service.send(DataRequest(.get, "a")) { result in
                continuation.resume(returning: result.failure)
            }
            Task {
                await fixture.clock.waitForSleepers(count: 1)
                token.cancel()
            }
        }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.attempts == 1)
    }

    @Test("A shutdown ends the wait for the next attempt")
    func shutdown() async throws {
        let fixture = try RetryFixture([Self.unreachable], retry: slow())
        let task = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        await fixture.service.shutdown()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
    }

    @Test("A request that may finish within the grace period of a shutdown is still retried")
    func grace() async throws {
        let fixture = try RetryFixture([Self.unreachable, .status(200)], retry: slow()) { $0.finishesOnShutdown = true }
        let task = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        async let ending: Void = fixture.service.shutdown(grace: .seconds(60))
        fixture.clock.advanceToNextDeadline()
        #expect(try await task.value.attempts == 2)
        await ending
    }

    @Test("A change of the environment ends the wait if it cancels requests")
    func environmentChange() async throws {
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/")))
        let clock = ManualClock()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = slow()
        configuration.clock = clock.requestClock
        configuration.onEnvironmentChange = .cancelRequests
        let transport = StubTransport { _ throws(RequestFailure) in
            throw RequestFailure(.connection, "x", transmission: .unsent)
        }
        let service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        let task = Task { try await service.send(DataRequest(.get, "a")) }
        await clock.waitForSleepers(count: 1)
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/")))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The return of the network shortens the wait to at most a second")
    func reachable() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        let fixture = try RetryFixture([Self.unreachable, .status(200)], retry: slow().whenReachable) {
            $0.reachability = reachability
        }
        let task = Task { try await fixture.service.send(DataRequest(.get, "a")) }
        await fixture.clock.waitForSleepers(count: 1)
        reachability.set(.local)
        await fixture.clock.waitForSleepers(count: 2)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await task.value.attempts == 2)
        #expect(fixture.clock.sleeperCount == 0)
    }

    @Test("A tracker that reports nothing changes no wait, whatever its status is")
    func silentTracker() async throws {
        for status in [ReachabilityStatus.local, .unreachable(.noRoute), .unknown] {
            let fixture = try RetryFixture([Self.unreachable, .status(200)], retry: slow().whenReachable) {
                $0.reachability = ControlledReachability(status)
            }
            let (result, waited) = await fixture.send()
            #expect(result.success?.attempts == 2)
            #expect(waited >= .seconds(600), "\(status)")
        }
    }

    @Test("A first attempt is sent although the tracker reports no path")
    func firstAttempt() async throws {
        let fixture = try RetryFixture([.status(200)], retry: .standard.whenReachable) {
            $0.reachability = ControlledReachability(.unreachable(.noRoute))
        }
        #expect(try await fixture.service.send(DataRequest(.get, "a")).attempts == 1)
    }
}
