import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Details of retries", .timeLimit(.minutes(5)))
struct RetryDetailsTests {
    /// A signer that adds a field, and records its earlier values.
    private final class AddingSigner: RequestInterceptor {
        let earlier = Mutex<[[String]]>([])

        func sign(_ request: inout EncodedRequest) async throws {
            let old = request.headerFields[values: .acceptLanguage]
            let number = earlier.withLock { earlier in
                earlier.append(old)
                return earlier.count
            }
            request.headerFields.append(HTTPField(name: .acceptLanguage, value: "signature \(number)"))
        }
    }

    private static let failsTwice: [RetryFixture.Outcome] = [
        .status(503), .failure(.interrupted, .sent), .status(200),
    ]

    private func authorization(of fixture: RetryFixture) -> [[String]] {
        fixture.transport.requests.map { $0.headerFields[values: .authorization] }
    }

    // MARK: Budget

    @Test("An exchange that succeeded after a retry deposits nothing into the budget, one that succeeds at once does")
    func deposits() async throws {
        let outcomes: [RetryFixture.Outcome] = [
            .status(503), .status(200), .status(503), .status(200), .status(503), .status(200), .status(503),
        ]
        let fixture = try RetryFixture(outcomes, retry: .attempts(2)) { configuration in
            configuration.retryBudget.initial = 1
            configuration.retryBudget.depositPerExchange = 1
            configuration.retryBudget.reservePerSecond = 0
        }
        // The retry takes the only unit, and the success after it deposits none.
        #expect(await fixture.send().result.success?.attempts == 2)
        #expect(await fixture.send().result.failure?.remedy?.contains("was not retried") == true)
        #expect(fixture.attempts == 3)
        // The success without a retry deposits the unit that the next request needs.
        #expect(await fixture.send().result.success?.attempts == 1)
        #expect(await fixture.send().result.success?.attempts == 2)
        #expect(await fixture.send().result.failure?.remedy?.contains("was not retried") == true)
        #expect(fixture.attempts == 7)
    }

    private func budget(initial: Double) -> (inout HTTPDataRequestService.Configuration) -> Void {
        { configuration in
            configuration.retryBudget.initial = initial
            configuration.retryBudget.depositPerExchange = 1
            configuration.retryBudget.reservePerSecond = 0
        }
    }

    @Test("A request deposits into the budget once, however many redirects it follows")
    func depositOfRedirects() async throws {
        let outcomes: [RetryFixture.Outcome] = [
            .status(302, [.location: "/b"]), .status(302, [.location: "/c"]), .status(200),
            .status(503), .status(200), .status(503),
        ]
        let fixture = try RetryFixture(outcomes, retry: .attempts(2), budget(initial: 0))
        #expect(await fixture.send().result.success?.redirects.count == 2)
        #expect(await fixture.send().result.success?.attempts == 2)
        #expect(await fixture.send().result.failure?.remedy?.contains("was not retried") == true)
        #expect(fixture.attempts == 6)
    }

    @Test("A request that is redirected to another origin deposits for both")
    func depositOfOrigins() async throws {
        let outcomes: [RetryFixture.Outcome] = [
            .status(302, [.location: "https://other/b"]), .status(200), .status(503), .status(200), .status(503),
        ]
        let fixture = try RetryFixture(outcomes, retry: .attempts(2), budget(initial: 0))
        #expect(await fixture.send().result.success?.redirects.count == 1)
        #expect(await fixture.send().result.success?.attempts == 2)
        #expect(await fixture.send().result.failure?.remedy?.contains("was not retried") == true)
        #expect(fixture.attempts == 5)
    }

    @Test("A request that was retried before a redirect deposits nothing after it")
    func noDepositAfterRetry() async throws {
        let outcomes: [RetryFixture.Outcome] = [
            .status(503), .status(302, [.location: "/b"]), .status(200), .status(503),
        ]
        let fixture = try RetryFixture(outcomes, retry: .attempts(2), budget(initial: 1))
        #expect(await fixture.send().result.success?.attempts == 2)
        #expect(await fixture.send().result.failure?.remedy?.contains("was not retried") == true)
        #expect(fixture.attempts == 4)
    }

    // MARK: Methods

    @Test(
        "A request with an idempotent method is sent again after an interrupted connection of unknown fate",
        arguments: [HTTPRequest.Method.get, .head, .put, .delete, .options, .trace])
    func idempotentMethods(method: HTTPRequest.Method) async throws {
        for transmission in [RequestFailure.Transmission.sent, nil] {
            let fixture = try RetryFixture([.failure(.interrupted, transmission), .status(200)])
            #expect(await fixture.send(DataRequest(method, "a")).result.success?.attempts == 2)
            #expect(fixture.transport.requests.map(\.method) == [method, method])
        }
    }

    @Test(
        "A request with another method fails after an interrupted connection of unknown fate",
        arguments: [HTTPRequest.Method.post, .patch])
    func otherMethods(method: HTTPRequest.Method) async throws {
        for transmission in [RequestFailure.Transmission.sent, nil] {
            let fixture = try RetryFixture([.failure(.interrupted, transmission), .status(200)])
            #expect(await fixture.send(DataRequest(method, "a")).result.failure?.reason == .interrupted)
            #expect(fixture.attempts == 1)
        }
    }

    // MARK: Fields of each attempt

    @Test("Each attempt has one Authorization field with the credentials of the service")
    func credentials() async throws {
        let credentials: [(Credentials, String)] = [
            (try .bearer("token"), "Bearer token"),
            (try .basic(user: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ]
        for (value, text) in credentials {
            let fixture = try RetryFixture(Self.failsTwice)
            fixture.service.setAuthorization(value)
            _ = try await fixture.send().result.get()
            #expect(authorization(of: fixture) == [[text], [text], [text]])
        }
    }

    @Test("Each attempt has one Authorization field with the access token that is in use then")
    func accessTokens() async throws {
        let fixture = try RetryFixture([.status(503), .status(401), .status(503), .status(200)])
        // The provider has a clock of its own, because the fixture moves the clock of the service.
        fixture.service.setAuthorization(.tokens(CountingProvider(), clock: ManualClock().requestClock))
        _ = try await fixture.send().result.get()
        #expect(authorization(of: fixture) == [["Bearer t1"], ["Bearer t1"], ["Bearer t2"], ["Bearer t2"]])
    }

    @Test("Each attempt is signed anew, without the earlier signature")
    func signatures() async throws {
        let signer = AddingSigner()
        let fixture = try RetryFixture(Self.failsTwice) { $0.interceptors = [signer] }
        _ = try await fixture.send().result.get()
        #expect(signer.earlier.withLock { $0 } == [[], [], []])
        #expect(
            fixture.transport.requests.map { $0.headerFields[values: .acceptLanguage] } == [
                ["signature 1"], ["signature 2"], ["signature 3"],
            ])
    }

    // MARK: Metrics

    @Test("After a retry, the metrics are those of the last attempt, and only the response counts all attempts")
    func metrics() async throws {
        let calls = Mutex(0)
        let transport = StubTransport { _ throws(RequestFailure) in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            var metrics = TransportMetrics()
            metrics.sendings = call == 3 ? 2 : 1
            return TransportResponse(
                HTTPResponse(status: call == 3 ? .ok : .serviceUnavailable), body: ResponseBody(Data("{}".utf8)),
                metrics: metrics)
        }
        let fixture = try ServiceFixture(transport) { configuration in
            var policy = RetryPolicy.standard
            policy.backoff = .exponential(base: .zero)
            configuration.retry = policy
        }
        let response = try await fixture.service.send(DataRequest(.get, "a"))
        #expect(response.attempts == 3)
        #expect(response.metrics.sendings == 2)
    }
}
