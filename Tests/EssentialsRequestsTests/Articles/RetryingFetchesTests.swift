import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article RetryingFetches", .timeLimit(.minutes(5)))
struct RetryingFetchesTests {
    struct Coin: Codable, Sendable, Equatable {
        var name: String
    }

    private struct Receipt: Codable, Sendable { var number = 9 }

    // Article begins
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        let fetchDefaults = FetchDefaults(retry: .standard)

        func coins() -> Emissions<[Coin]> {
            get("coins", retry: .attempts(5).whenReachable)
        }
        func price(of id: Int) -> Emissions<Double> {
            get("coins/\(id)/price", retry: .within(.seconds(30)))
        }
        func news() -> Emissions<[String]> {
            get("news", from: .backend, retry: .forever.whenReachable)
        }
    }
    // Article ends

    private let clock = ManualClock()
    private let transport: ScriptedTransport

    init() { transport = ScriptedTransport(clock: clock) }

    private func service(_ configuration: HTTPDataRequestService.Configuration = .init()) throws -> CoinService {
        var configuration = configuration
        configuration.clock = clock.requestClock
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/v1/"), transport: transport, configuration: configuration)
        return CoinService(requests: requests, cache: ModelCache())
    }

    /// Moves the clock to the end of each pause while the work runs.
    private func advancing<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let task = Task { [clock] in
            while !Task.isCancelled {
                await clock.waitForSleepers(count: 1)
                clock.advanceToNextDeadline()
            }
        }
        defer { task.cancel() }
        return try await work()
    }

    /// The number of requests to a path.
    private func count(_ path: String) -> Int { transport.requests.count { $0.url.path == "/v1/\(path)" } }

    @Test("The article on retries of fetches counts attempts for a call and for a service, within a time and forever")
    func limits() async throws {
        let service = try service()
        for (path, isDown) in [("coins", true), ("coins/7/price", true), ("other", true), ("news", false)] {
            let script = transport.on(.get, "/v1/\(path)").answer(
                .serviceUnavailable, headerFields: [.retryAfter: "10"])
            guard !isDown else { continue }
            for _ in 0..<6 { script.thenAnswer(.serviceUnavailable) }
            script.thenAnswer(json: ["up"])
        }
        // The failure of each says how many attempts there were.
        let failures = await advancing { () -> [RequestFailure?] in
            [
                await #expect(throws: RequestFailure.self) { try await service.coins().last() },
                await #expect(throws: RequestFailure.self) { try await service.price(of: 7).last() },
                await #expect(throws: RequestFailure.self) { try await service.get("other", as: Coin.self).last() },
            ]
        }
        #expect(failures.map { $0?.attempt } == [5, 3, 3])
        #expect(["coins", "coins/7/price", "other"].map(count) == [5, 3, 3])
        #expect(try await advancing { try await service.news().last() }?.value == ["up"])
        #expect(count("news") == 8)
    }

    @Test("The article on retries of fetches sends a POST without a key once, and one with a key again")
    func writes() async throws {
        let service = try service()
        transport.on(.post, "/v1/orders").fail(.interrupted).thenFail(.interrupted).thenAnswer(json: Receipt())
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.post("orders", body: .parameters(["coin": 7]), retry: .attempts(3), as: Receipt.self)
        }
        #expect(failure?.reason == .interrupted)
        #expect(transport.requestCount == 1)
        try await advancing {
            // Article begins
            var order = DataRequest(.post, "orders", parameters: ["coin": 7])
            order.idempotencyKey = .automatic
            let receipt: Receipt = try await service.send(order, retry: .attempts(3))
            // Article ends
            #expect(receipt.number == 9)
        }
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = transport.requests.map { $0.headerFields[name] }
        #expect(keys.count == 3 && keys[0] == nil && keys[1] != nil && keys[1] == keys[2])
    }

    @Test("The article on retries of fetches shows a closure that allows, postpones and forbids")
    func deciding() async throws {
        // Article begins
        let policy = RetryPolicy.attempts(5).deciding { candidate in
            switch candidate.failure.status {
            case .conflict: .retryAfter(.seconds(1))
            case .badGateway: .stop
            default: .standard
            }
        }
        // Article ends
        transport.on(.get, "/v1/coins").answer(.conflict).thenAnswer(.serviceUnavailable).thenAnswer(.badGateway)
        let (service, start) = (try service(), clock.now)
        let failure = await advancing {
            await #expect(throws: RequestFailure.self) {
                try await service.get("coins", from: .backend, retry: policy, as: [Coin].self).last()
            }
        }
        #expect(failure?.status == .badGateway)
        #expect(failure?.earlierFailures.map(\.status) == [.conflict, .serviceUnavailable])
        #expect(start.duration(to: clock.now) >= .seconds(1))
    }

    @Test("The article on retries of fetches waits for a long Retry-After, and no longer than its backoff allows")
    func pauses() async throws {
        let service = try service()
        transport.on(.get, "/v1/coins").answer(.serviceUnavailable, headerFields: [.retryAfter: "200"])
            .thenFail(.connection).thenAnswer(json: [Coin(name: "a")])
            .thenAnswer(.serviceUnavailable, headerFields: [.retryAfter: "200"])
        try await advancing {
            // Article begins
            var patient = RetryPolicy.forever.whenReachable
            patient.backoff = .exponential(base: .seconds(1), cap: .seconds(60))
            patient.longestWait = .seconds(300)
            let newest = try await service.get(
                "coins", from: .backend, retry: patient, as: [Coin].self
            ).last()
            // Article ends
            #expect(newest?.value == [Coin(name: "a")])
        }
        let times = transport.requests.map(\.time)
        // A second is added at most.
        #expect((.seconds(200)...Duration.seconds(201)).contains(times[0].duration(to: times[1])))
        #expect((.zero...Duration.seconds(2) * 1.1).contains(times[1].duration(to: times[2])))
        // Other policies do not wait so long.
        let failure = await #expect(throws: RequestFailure.self) { try await service.coins().last() }
        #expect(failure?.retryAfter() == .seconds(200))
        #expect(transport.requestCount == 4)
    }

    @Test(
        "The article on retries of fetches ends a pause when the network is back, and never holds back a first attempt")
    func reachability() async throws {
        let reachability = ControlledReachability(.unreachable(.noRoute))
        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.reachability = reachability
        // Article ends
        // Article begins
        // up to 20 % more requests
        configuration.retryBudget.depositPerExchange = 0.2
        // Article ends
        let service = try service(configuration)
        transport.on(.get, "/v1/news").fail(.connection, phase: .connect).thenAnswer(json: ["up"])
        var policy = RetryPolicy.forever.whenReachable
        policy.backoff = .decorrelated(base: .seconds(600), cap: .seconds(600))
        let start = clock.now
        let task = Task { [policy] in
            try await service.get("news", from: .backend, retry: policy, as: [String].self).last()?.value
        }
        #expect(try await transport.request(number: 1).time == start)
        await clock.waitForSleepers(count: 1)
        reachability.set(.local)
        // The rest of the pause is a second at most.
        while clock.nextDeadline.map({ start.duration(to: $0) > .seconds(1) }) == true { await Task.yield() }
        clock.advanceToNextDeadline()
        #expect(try await task.value == ["up"])
        #expect(start.duration(to: clock.now) <= .seconds(1))
    }

    @Test("The article on retries of fetches cancels one in the middle of a pause")
    func cancelled() async throws {
        let service = try service()
        transport.on(.get, "/v1/news").answer(.serviceUnavailable, headerFields: [.retryAfter: "20"])
        let ends = AsyncStream<Result<Void, RequestFailure>>.makeStream()
        let shown = Mutex<[[String]]>([])
        @Sendable func show(_ news: [String]) { shown.withLock { $0.append(news) } }
        @Sendable func finish(_ result: Result<Void, RequestFailure>) { ends.continuation.yield(result) }
        func cancelAtOnce() {
            // Article begins
            let token = service.news().start { news in
                show(news.value)
            } completion: { result in
                finish(result)
            }
            token.cancel()
            // Article ends
        }

        let ended = service.news().start {
            show($0.value)
        } completion: {
            finish($0)
        }
        await clock.waitForSleepers(count: 1)
        ended.cancel()
        var iterator = ends.stream.makeAsyncIterator()
        for isLast in [false, true] {
            guard case .failure(let failure) = await iterator.next() else {
                Issue.record("The fetch has not failed.")
                return
            }
            #expect(failure.reason == .cancelled)
            if !isLast { cancelAtOnce() }
        }
        #expect(shown.withLock { $0 } == [])
        // Nobody waits any more.
        while clock.sleeperCount > 0 { await Task.yield() }
    }
}
