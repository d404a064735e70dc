import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite struct RetryStageTests {
    @Test("A service without a policy sends a failed request once")
    func off() async throws {
        for outcome in [RetryFixture.Outcome.status(503), .failure(.connection, .unsent)] {
            let fixture = try RetryFixture([outcome, .status(200)], retry: .never)
            #expect(await fixture.send().result.failure != nil)
            #expect(fixture.attempts == 1)
        }
    }

    @Test("A GET succeeds at its third attempt, and the response says so")
    func succeeds() async throws {
        let fixture = try RetryFixture([.status(503), .failure(.interrupted, .sent), .status(200)])
        let response = try await fixture.send().result.get()
        #expect((response.status.code, response.attempts, fixture.attempts) == (200, 3, 3))
    }

    @Test("A request that fails at each attempt fails with the last failure and names the earlier ones")
    func givesUp() async throws {
        let fixture = try RetryFixture([
            .failure(.connection, .unsent, .connect), .status(503, [.retryAfter: "1"]), .status(502),
        ])
        let failure = try #require(await fixture.send().result.failure)
        #expect(failure.status?.code == 502)
        #expect(failure.attempt == 3)
        #expect(failure.earlierFailures.map(\.reason) == [.connection, .status])
        #expect(failure.earlierFailures.map(\.attempt) == [1, 2])
        #expect(failure.earlierFailures.map { $0.status?.code } == [nil, 503])
        #expect(failure.earlierFailures.allSatisfy { $0.response?.body.isEmpty ?? true })
        #expect(failure.earlierFailures.allSatisfy { $0.earlierFailures.isEmpty })
        #expect(failure.response?.body == Data("{}".utf8))
        #expect("\(failure)".contains("3 attempts"))
    }

    @Test("A failure keeps its first and its latest seven earlier failures")
    func keepsEight() async throws {
        let fixture = try RetryFixture(
            [.failure(.nameResolution, .unsent, .nameResolution), .status(503)], retry: .attempts(11))
        let failure = try #require(await fixture.send().result.failure)
        #expect(failure.attempt == 11)
        #expect(failure.earlierFailures.map(\.attempt) == [1, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test("A POST of unknown fate is sent once, and one that did not reach the server is retried")
    func post() async throws {
        let unknown: [RetryFixture.Outcome] = [
            .failure(.interrupted, .sent), .failure(.interrupted, nil), .failure(.timeout, .sent),
            .failure(.connection, nil, .connect), .status(502), .status(503), .status(504), .status(408),
        ]
        for outcome in unknown {
            let fixture = try RetryFixture([outcome, .status(200)])
            _ = await fixture.send(DataRequest(.post, "a"))
            #expect(fixture.attempts == 1, "\(outcome)")
        }
        let unprocessed: [RetryFixture.Outcome] = [
            .failure(.connection, .unsent, .connect), .failure(.interrupted, .refused), .status(429), .status(421),
        ]
        for outcome in unprocessed {
            let fixture = try RetryFixture([outcome, .status(200)])
            _ = try await fixture.send(DataRequest(.post, "a")).result.get()
            #expect(fixture.attempts == 2, "\(outcome)")
        }
    }

    @Test("A POST that is marked as idempotent, or has an idempotency key, is retried with the same key")
    func idempotent() async throws {
        var marked = DataRequest(.post, "a")
        marked.isIdempotent = true
        var automatic = DataRequest(.post, "a")
        automatic.idempotencyKey = .automatic
        var text = DataRequest(.post, "a")
        text.idempotencyKey = .text("order-7")
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        var own = DataRequest(.post, "a")
        own.headerFields[name] = "mine"
        for (request, pattern) in [(marked, ""), (automatic, "-4"), (text, "order-7"), (own, "mine")] {
            let fixture = try RetryFixture([.failure(.interrupted, .sent), .status(503), .status(200)])
            _ = try await fixture.send(request).result.get()
            let keys = fixture.transport.requests.map { $0.headerFields[name] ?? "" }
            #expect(keys.count == 3)
            #expect(Set(keys).count == 1)
            #expect(keys[0].contains(pattern) || pattern.isEmpty && keys[0].isEmpty)
            #expect(fixture.transport.requests.allSatisfy { $0.isIdempotent == true })
        }
    }

    @Test("Two requests have different automatic keys, and an empty key is refused")
    func keys() async throws {
        let fixture = try RetryFixture([.status(200)])
        var request = DataRequest(.post, "a")
        request.idempotencyKey = .automatic
        for _ in 0..<2 { _ = try await fixture.send(request).result.get() }
        #expect(Set(fixture.transport.requests.map { $0.headerFields[HTTPField.Name("Idempotency-Key")!] }).count == 2)
        request.idempotencyKey = .text("")
        #expect(await fixture.send(request).result.failure?.reason == .invalidRequest)
    }

    @Test("A GET that is marked as not idempotent is not retried after it was sent")
    func notIdempotent() async throws {
        var request = DataRequest(.get, "a")
        request.isIdempotent = false
        let fixture = try RetryFixture([.status(503), .status(200)])
        #expect(await fixture.send(request).result.failure?.status?.code == 503)
        #expect(fixture.transport.requests.map(\.isIdempotent) == [false])
    }

    @Test("The policy of the request wins over that of the environment, which wins over that of the service")
    func precedence() async throws {
        var settings = RequestSettings()
        settings.retry = .attempts(4)
        let clock = ManualClock()
        let transport = StubTransport { _ throws(RequestFailure) in
            throw RequestFailure(.connection, "x", transmission: .unsent)
        }
        var configuration = HTTPDataRequestService.Configuration()
        var policy = RetryPolicy.attempts(2)
        policy.backoff = .exponential(base: .zero)
        configuration.retry = policy
        configuration.clock = clock.requestClock
        settings.retry?.backoff = .exponential(base: .zero)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/", settings: settings), transport: transport,
            configuration: configuration)
        var request = DataRequest(.get, "a")
        _ = try? await service.send(request)
        #expect(transport.requests.count == 4)
        request.retry = .never
        _ = try? await service.send(request)
        #expect(transport.requests.count == 5)
    }

    @Test("The server's Retry-After is waited for, and a date counts from the response's own Date")
    func retryAfter() async throws {
        let dated: HTTPFields = [
            .date: "Tue, 01 Jan 2030 00:00:00 GMT", .retryAfter: "Tue, 01 Jan 2030 00:00:10 GMT",
        ]
        let past: HTTPFields = [.date: "Tue, 01 Jan 2030 00:00:00 GMT", .retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"]
        for (fields, range) in [
            ([.retryAfter: "10"], 10.0...11.0), (dated, 10.0...11.0), (past, 0.0...0.3),
            ([.retryAfter: "soon"], 0.0...0.3),
        ] as [(HTTPFields, ClosedRange<Double>)] {
            let fixture = try RetryFixture([.status(429, fields), .status(200)])
            let (result, waited) = await fixture.send()
            _ = try result.get()
            #expect(range.contains(waited / .seconds(1)), "\(fields) \(waited)")
        }
    }

    @Test("A Retry-After beyond the longest wait fails at once, with the time in the failure and in the remedy")
    func longRetryAfter() async throws {
        let fixture = try RetryFixture([.status(503, [.retryAfter: "3600"]), .status(200)])
        let (result, waited) = await fixture.send()
        #expect(waited == .zero)
        #expect(result.failure?.retryAfter() == .seconds(3600))
        #expect(result.failure?.remedy?.contains("3600") == true)
        #expect(fixture.attempts == 1)
    }

    @Test("A wait beyond the request's total timeout fails at once with the failure that occurred")
    func totalTimeout() async throws {
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(5)
        let fixture = try RetryFixture([.status(503, [.retryAfter: "6"]), .status(200)])
        let (result, waited) = await fixture.send(request)
        #expect(result.failure?.status?.code == 503)
        #expect(waited == .zero)
    }

    @Test("Each attempt gets the attempt timeout or what is left of the total timeout, whichever is shorter")
    func attemptTimeout() async throws {
        var policy = RetryPolicy.attempts(5)
        policy.attemptTimeout = .seconds(4)
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(13)
        let fixture = try RetryFixture([.status(503, [.retryAfter: "5"]), .failure(.timeout, .sent)], retry: policy)
        _ = await fixture.send(request)
        let limits = fixture.transport.requests.compactMap(\.options.totalTimeout)
        #expect(limits.first == .seconds(4))
        #expect(limits.dropFirst().first == .seconds(4))
        #expect(limits.count == 5)
    }

    private struct SlowTokens: AccessTokenProvider {
        let clock: ManualClock

        func token(replacing old: AccessToken?) async throws -> AccessToken {
            try await clock.sleep(for: .seconds(1))
            return try AccessToken(old == nil ? "a" : "b")
        }
    }

    @Test(
        "An attempt keeps its timeout although it waits for a token or for its turn, and is sent again with a new token",
        arguments: [Duration.seconds(60), nil])
    func attemptTimeoutAfterWaits(total: Duration?) async throws {
        let (clock, transport) = (ManualClock(), ScriptedTransport())
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        configuration.retry = .attempts(3)
        configuration.retry.attemptTimeout = .seconds(10)
        configuration.limits = OriginLimits(concurrency: 1)
        let service = try HTTPDataRequestService(
            environment: ConstantEnvironment("https://api.test/"), transport: transport, configuration: configuration)
        service.setAuthorization(.tokens(SlowTokens(clock: clock)))
        transport.on(.get, "/a").answer(.unauthorized, headerFields: [.wwwAuthenticate: "Bearer realm=a"])
            .thenAnswer(json: 1)
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = total
        let tasks = (0..<2).map { _ in Task { [request] in try await service.send(request) } }
        while transport.requestCount < 3 {
            if clock.nextDeadline != nil { clock.advance(by: .seconds(1)) }
            await Task.yield()
        }
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.map(\.options.totalTimeout) == Array(repeating: .seconds(10), count: 3))
    }

    @Test("A streamed body that cannot be read again is sent once, and the remedy says what to do")
    func oneTimeBody() async throws {
        let fixture = try RetryFixture([.failure(.connection, .unsent, .connect), .status(200)])
        var request = DataRequest(.put, "a")
        request.body = .raw(.stream(AsyncStream<Data> { $0.finish() }, length: nil))
        let failure = try #require(await fixture.send(request).result.failure)
        #expect(failure.reason == .connection)
        #expect(failure.remedy?.contains("cannot be read again") == true)
        #expect(fixture.attempts == 1)
    }

    @Test("After a POST that was answered with 303, only the GET is retried")
    func seeOther() async throws {
        let fixture = try RetryFixture([
            .status(303, [.location: "/v1/b"]), .status(503), .failure(.interrupted, .sent), .status(200),
        ])
        let response = try await fixture.send(DataRequest(.post, "a")).result.get()
        #expect(
            fixture.transport.requests.map { "\($0.method.rawValue) \($0.url.path)" } == [
                "POST /v1/a", "GET /v1/b", "GET /v1/b", "GET /v1/b",
            ])
        #expect(response.attempts == 3)
    }

    @Test("The attempts of a policy count over all redirects")
    func attemptsOverHops() async throws {
        let fixture = try RetryFixture([
            .status(503), .status(302, [.location: "/v1/b"]), .status(503), .status(503), .status(200),
        ])
        #expect(await fixture.send().result.failure?.status?.code == 503)
        #expect(fixture.attempts == 4)
    }

    @Test("408 and 421 are retried on a fresh connection, and the attempt after that is not")
    func freshConnection() async throws {
        for status in [408, 421] {
            let fixture = try RetryFixture([.status(status), .status(503), .status(200)])
            _ = try await fixture.send().result.get()
            #expect(fixture.transport.requests.map(\.needsFreshConnection) == [false, true, false])
        }
    }

    @Test("An empty budget fails the request with the failure that occurred, and says so")
    func emptyBudget() async throws {
        let fixture = try RetryFixture([.status(503)], retry: .attempts(2)) { configuration in
            configuration.retryBudget.initial = 2
            configuration.retryBudget.reservePerSecond = 0
        }
        for _ in 0..<2 { _ = await fixture.send() }
        #expect(fixture.attempts == 4)
        let (result, waited) = await fixture.send()
        #expect(fixture.attempts == 5)
        #expect(waited == .zero)
        #expect(result.failure?.status?.code == 503)
        #expect(result.failure?.remedy?.contains("was not retried") == true)
    }

    @Test("A request that retries forever waits for the reserve of an empty budget")
    func foreverWaits() async throws {
        let outcomes = Array(repeating: RetryFixture.Outcome.status(503), count: 4) + [.status(200)]
        let fixture = try RetryFixture(outcomes, retry: .forever) { configuration in
            configuration.retryBudget.initial = 0
        }
        let (result, waited) = await fixture.send()
        #expect(result.success?.attempts == 5)
        #expect(waited >= .seconds(4))
    }

    @Test("Budgets are separate for each origin")
    func budgetOfOrigin() async throws {
        let fixture = try RetryFixture([.status(503)], retry: .attempts(2)) { configuration in
            configuration.retryBudget.initial = 1
            configuration.retryBudget.reservePerSecond = 0
        }
        var other = DataRequest(.get, "a")
        other.base = "https://other/"
        for request in [DataRequest(.get, "a"), other] { _ = await fixture.send(request) }
        #expect(fixture.attempts == 4)
        _ = await fixture.send(other)
        #expect(fixture.attempts == 5)
    }

    @Test("A closure sees each failed attempt and decides about statuses of its own")
    func closure() async throws {
        let seen = Mutex<[String]>([])
        let policy = RetryPolicy.attempts(5).deciding { candidate in
            seen.withLock {
                $0.append(
                    "\(candidate.attempt) \(candidate.method.rawValue) \(candidate.url.path) "
                        + "\(candidate.failure.status?.code ?? 0) \(candidate.isRetriable)")
            }
            return candidate.failure.status == .conflict ? .retryAfter(.seconds(3)) : .standard
        }
        let fixture = try RetryFixture([.status(409), .status(503), .status(404)], retry: policy)
        let (result, waited) = await fixture.send()
        #expect(result.failure?.status == .notFound)
        #expect(seen.withLock { $0 } == ["1 GET /v1/a 409 false", "2 GET /v1/a 503 true", "3 GET /v1/a 404 false"])
        #expect(waited >= .seconds(3))
    }

    @Test("Two policies are equal unless they have different closures")
    func equality() {
        #expect(RetryPolicy.attempts(3) == .standard)
        #expect(RetryPolicy.standard.whenReachable != .standard)
        let decided = RetryPolicy.standard.deciding { _ in .stop }
        #expect(decided == decided)
        #expect(decided != RetryPolicy.standard.deciding { _ in .stop })
    }

    @Test("Fewer than one attempt count as one")
    func fewAttempts() async throws {
        let fixture = try RetryFixture([.status(503)], retry: .attempts(-3))
        _ = await fixture.send()
        #expect(fixture.attempts == 1)
    }
}
