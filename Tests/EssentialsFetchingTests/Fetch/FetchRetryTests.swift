import EssentialsFetching
import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchRetryTests {
    /// Fetches and moves the clock to the end of each wait.
    ///
    /// - Returns: The values, and the time that all waits took.
    private func run(
        _ fixture: FetchFixture, _ fetch: Emissions<Coin>
    ) async -> (trace: FetchTrace, waited: Duration) {
        let (clock, start) = (fixture.clock, fixture.clock.now)
        let advancing = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers(count: 1)
                clock.advanceToNextDeadline()
            }
        }
        let trace = await FetchTrace(fetch)
        advancing.cancel()
        await advancing.value
        return (trace, start.duration(to: clock.now))
    }

    private func policy(_ limit: RetryPolicy) -> RetryPolicy {
        var policy = limit
        policy.backoff = .exponential(base: .seconds(1), cap: .seconds(8))
        return policy
    }

    @Test("A number of attempts counts all of them, with pauses between zero and the growing bound", arguments: 1...5)
    func attempts(count: Int) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable)
        let fetch = fixture.service.get("coins", from: .backend, retry: policy(.attempts(count)), as: Coin.self)
        let (trace, waited) = await run(fixture, fetch)
        #expect(trace == FetchTrace([], .status))
        #expect(fixture.transport.requestCount == count)
        let times = fixture.transport.requests.map(\.time)
        for (index, (one, next)) in zip(times, times.dropFirst()).enumerated() {
            // The bound doubles. A tenth is added, so that clients do not come back together.
            #expect((.zero...Duration.seconds(1 << index) * 1.1).contains(one.duration(to: next)))
        }
        #expect(waited <= .seconds((1 << (count - 1)) - 1) * 1.1)
    }

    @Test("A fetch with retries emits the cached value first and the server's after the last attempt")
    func succeeds() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable).thenFail(.connection)
            .thenAnswer(json: Coin(name: "new"))
        fixture.preset("old")
        let (trace, _) = await run(fixture, fixture.service.get("coins", retry: policy(.forever)))
        #expect(trace == FetchTrace(["cache old", "backend new"]))
        #expect(fixture.transport.requestCount == 3)
    }

    @Test("Retries within a time end when the next one would begin too late")
    func within() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable, headerFields: [.retryAfter: "10"])
        let (trace, waited) = await run(
            fixture, fixture.service.get("coins", from: .backend, retry: policy(.within(.seconds(25)))))
        #expect(trace == FetchTrace([], .status))
        #expect(fixture.transport.requestCount == 3)
        #expect((.seconds(20)...Duration.seconds(25)).contains(waited))
    }

    @Test("A fetch waits for the server's Retry-After")
    func retryAfter() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.tooManyRequests, headerFields: [.retryAfter: "20"])
            .thenAnswer(json: Coin(name: "new"))
        let (trace, waited) = await run(
            fixture, fixture.service.get("coins", from: .backend, retry: policy(.standard)))
        #expect(trace == FetchTrace(["backend new"]))
        #expect((.seconds(20)...Duration.seconds(21)).contains(waited))
    }

    @Test("404, 400 and a body that cannot be decoded are never retried", arguments: [404, 400, 200])
    func neverRetried(status: Int) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.init(code: status), text: "x")
        let (trace, waited) = await run(
            fixture, fixture.service.get("coins", from: .backend, retry: policy(.attempts(5))))
        #expect(trace.failure == (status == 200 ? .decoding : .status))
        #expect(fixture.transport.requestCount == 1)
        #expect(waited == .zero)
    }

    @Test("408, 425, 429 and 503 are retried", arguments: [408, 425, 429, 503])
    func retried(status: Int) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.init(code: status)).thenAnswer(json: Coin(name: "new"))
        let (trace, _) = await run(
            fixture, fixture.service.get("coins", from: .backend, retry: policy(.standard)))
        #expect(trace == FetchTrace(["backend new"]))
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A closure decides which failures are retried")
    func deciding() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.conflict).thenAnswer(.serviceUnavailable)
        let policy = policy(.attempts(5)).deciding { candidate in
            candidate.failure.status == .conflict ? .retry : .stop
        }
        let (trace, _) = await run(fixture, fixture.service.get("coins", from: .backend, retry: policy))
        #expect(trace == FetchTrace([], .status))
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("Fetches and other requests of the service take their retries from one budget")
    func budget() async throws {
        var budget = RetryBudget()
        (budget.initial, budget.depositPerExchange, budget.reservePerSecond, budget.reserveMaximum) = (3, 0, 0, 0)
        let fixture = try FetchFixture { [budget] in $0.retryBudget = budget }
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable)
        var direct = DataRequest(.get, "coins")
        direct.retry = policy(.attempts(3))
        let sent = Task { [requests = fixture.requests, direct] in try? await requests.send(direct) }
        for _ in 0..<2 {
            await fixture.clock.waitForSleepers(count: 1)
            fixture.clock.advanceToNextDeadline()
        }
        _ = await sent.value
        #expect(fixture.transport.requestCount == 3)
        _ = await run(fixture, fixture.service.get("coins", from: .backend, retry: policy(.attempts(10))))
        // Two of three retries were taken before.
        #expect(fixture.transport.requestCount == 3 + 2)
    }

    @Test("A fetch that is cancelled during a pause ends at once")
    func cancelledPause() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable, headerFields: [.retryAfter: "20"])
        for source in [FetchSource.backend, .cacheThenBackend] {
            let task = Task { await FetchTrace(fixture.service.get("coins", from: source, retry: .standard)) }
            await fixture.clock.waitForSleepers(count: 1)
            task.cancel()
            #expect(await task.value == FetchTrace([], .cancelled))
            await eventually { fixture.requests.requestsInFlight == 0 }
            #expect(fixture.clock.sleeperCount == 0)
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A path that returns shortens the pause, and a lost path never holds back the first attempt")
    func reachability() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        let fixture = try FetchFixture { $0.reachability = reachability }
        fixture.transport.on(.get, "/v1/coins").fail(.connection, phase: .connect).thenFail(
            .connection, phase: .connect
        )
        .thenAnswer(json: Coin(name: "new"))
        var policy = RetryPolicy.attempts(5).whenReachable
        policy.backoff = .decorrelated(base: .seconds(600), cap: .seconds(900))
        let task = Task { [policy] in await FetchTrace(fixture.service.get("coins", from: .backend, retry: policy)) }
        _ = try await fixture.transport.request(number: 1)
        #expect(fixture.clock.now.duration(to: fixture.transport.requests[0].time) == .zero)
        for number in 2...3 {
            await fixture.clock.waitForSleepers(count: 1)
            reachability.set(.local)
            // The remaining wait is at most a second.
            await eventually {
                fixture.clock.nextDeadline.map { fixture.clock.now.duration(to: $0) <= .seconds(1) } ?? true
            }
            fixture.clock.advanceToNextDeadline()
            _ = try await fixture.transport.request(number: number)
            reachability.set(.unreachable(.noRoute))
        }
        #expect(await task.value == FetchTrace(["backend new"]))
        #expect(fixture.clock.now.duration(to: .init(elapsed: .seconds(2))) >= .zero)
    }

    @Test("A POST with an unknown outcome is sent once, and is sent again only with an idempotency key")
    func post() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.post, "/v1/coins").fail(.interrupted)
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.post("coins", body: Coin(name: "x"), retry: .attempts(3), as: Coin.self)
        }
        #expect(failure?.reason == .interrupted)
        #expect(fixture.transport.requestCount == 1)
        var request = DataRequest(.post, "coins")
        request.idempotencyKey = .automatic
        let trace = await run(fixture, fixture.service.fetch(request, retry: policy(.attempts(3)))).trace
        #expect(trace == FetchTrace([], .interrupted))
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("The policy of a call precedes that of the request, which precedes the default of the service")
    func precedence() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.serviceUnavailable)
        var service = fixture.service
        service.fetchDefaults.retry = policy(.attempts(2))
        var request = DataRequest(.get, "coins")
        var count = 0
        for (own, call, expected) in [
            (nil, nil, 2), (policy(.attempts(3)), nil, 3), (policy(.attempts(3)), policy(.attempts(4)), 4),
            (.never, nil, 1),
        ] as [(RetryPolicy?, RetryPolicy?, Int)] {
            request.retry = own
            _ = await run(fixture, service.fetch(request, from: .backend, retry: call))
            count += expected
            #expect(fixture.transport.requestCount == count)
        }
    }
}
