import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Logins, origins and services with access tokens", .timeLimit(.minutes(5)))
struct TokenSessionTests {
    /// A provider whose calls return when the gate opens, and which ignores that it was cancelled.
    private static func held(_ gate: LoopbackGate) -> CountingProvider {
        CountingProvider { number, _ in
            while !gate.isOpen { await Task.yield() }
            return try AccessToken("t\(number)")
        }
    }

    /// A clock on which every sleep is over at once.
    private struct SpentClock: Clock {
        typealias Instant = ManualClock.Instant

        var now: Instant { Instant(elapsed: .zero) }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test("A thousand requests whose time is over when they begin to wait stop waiting, and the refresh goes on")
    func spentTime() async throws {
        let gate = LoopbackGate()
        let source = TokenSource(Self.held(gate), clock: ManualClock().requestClock)
        let session = source.attach()
        let timedOut = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    let waited = await source.wait(
                        in: session, Cancellation(), timeout: .seconds(1), timer: SpentClock())
                    return if case .timedOut = waited { true } else { false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(timedOut == 1_000)
        #expect(source.waiterCount == 0 && source.isRefreshing)
        gate.open()
        await source.waitUntilIdle()
    }

    // MARK: Descriptions

    @Test("No description of tokens and their credentials shows a secret, and equality compares the source")
    func text() throws {
        struct Secretive: AccessTokenProvider {
            let secret = "s3cret"
            func token(replacing old: AccessToken?) async throws -> AccessToken { try AccessToken(secret) }
        }
        let token = try AccessToken("s3cret", expiresIn: .seconds(5))
        let credentials = Credentials.tokens(Secretive())
        for value in [token, credentials, Optional(token) as Any] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("s3cret")) }
        }
        #expect("\(token)" == "AccessToken …")
        #expect("\(credentials)" == "Bearer …")
        let copy = credentials
        #expect(credentials == copy && credentials.hashValue == copy.hashValue)
        #expect(credentials != .tokens(Secretive()))
        #expect(credentials != (try .bearer("s3cret")))
        #expect(token == (try AccessToken("s3cret", expiresIn: .seconds(5))))
    }

    @Test(
        "A token that cannot be sent is refused without being shown", arguments: ["", "=", "sec ret", "séc", "sec\r\n"])
    func invalid(value: String) {
        let failure = #expect(throws: RequestFailure.self) { try AccessToken(value) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.description.contains("sec") == false)
    }

    @Test("A rejection describes itself with its message")
    func rejection() {
        #expect("\(AccessTokenRejection("Closed."))" == "Closed.")
        #expect(AccessTokenRejection().underlying == nil)
        #expect(AccessTokenRejection(underlying: ProviderFault()).underlying is ProviderFault)
    }

    // MARK: Logging out and in

    @Test("A logout during a refresh fails the waiting requests, and the late token is not used")
    func logout() async throws {
        let gate = LoopbackGate()
        let fixture = try TokenFixture(provider: Self.held(gate))
        let source = try fixture.source
        let task = Task { try await fixture.service.get("a") }
        await source.waitForWaiters(1)
        await fixture.service.clearAuthorization()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .authorization)
        #expect(failure?.message == "The credentials were cleared or replaced, so there is no access token.")
        gate.open()
        await source.waitUntilIdle()
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(fixture.sent == [nil])
    }

    @Test("A logout cancels the provider")
    func cancelledProvider() async throws {
        let provider = CountingProvider { _, _ in
            while !Task.isCancelled { await Task.yield() }
            throw CancellationError()
        }
        let fixture = try TokenFixture(provider: provider)
        let source = try fixture.source
        let task = Task { try await fixture.service.get("a") }
        await source.waitForWaiters(1)
        await fixture.service.clearAuthorization()
        await #expect(throws: RequestFailure.self) { try await task.value }
        await source.waitUntilIdle()
    }

    @Test(
        "Requests that wait fail if other credentials replace their tokens, because these may be another user's",
        arguments: [
            try Credentials.bearer("new"), Credentials.tokens(CountingProvider()),
            try Credentials.digest(user: "ada", password: "x", hash: HashFunctions { _, _ in nil }),
        ])
    func replaced(by other: Credentials) async throws {
        let gate = LoopbackGate()
        let fixture = try TokenFixture(accepting: ["new", "t1"], provider: Self.held(gate))
        let source = try fixture.source
        let task = Task { try await fixture.service.get("a") }
        await source.waitForWaiters(1)
        fixture.service.setAuthorization(other)
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .authorization)
        #expect(fixture.sent == [])
        gate.open()
        await source.waitUntilIdle()
    }

    @Test("Setting the same credentials again during a refresh does not start a second one")
    func setAgain() async throws {
        let gate = LoopbackGate()
        let fixture = try TokenFixture(provider: Self.held(gate))
        let source = try fixture.source
        let task = Task { try await fixture.service.get("a") }
        await source.waitForWaiters(1)
        fixture.service.setAuthorization(fixture.credentials)
        gate.open()
        _ = try await task.value
        #expect(fixture.sent == ["t1"])
        #expect(fixture.provider.calls == 1)
    }

    @Test("A 401 that arrives after the logout is the result of its request")
    func late401() async throws {
        let (arrived, gate) = (LoopbackGate(), LoopbackGate())
        let provider = CountingProvider()
        let transport = StubTransport { _ throws(RequestFailure) in
            arrived.open()
            await gate.opened()
            return TransportResponse(HTTPResponse(status: .unauthorized), body: ResponseBody(Data()))
        }
        let service = try ServiceFixture(transport).service
        service.setAuthorization(.tokens(provider))
        let task = Task { try await service.get("a") }
        await arrived.opened()
        await service.clearAuthorization()
        gate.open()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.status == .unauthorized)
        #expect(provider.calls == 1)
    }

    // MARK: Services and origins

    @Test("Services and origins that share credentials share one token and one refresh")
    func shared() async throws {
        let gate = LoopbackGate()
        let one = try TokenFixture(base: "https://one.example/", provider: Self.held(gate))
        let two = try TokenFixture(base: "https://two.example/")
        two.service.setAuthorization(one.credentials)
        let source = try one.source
        let tasks = [one.service, two.service].flatMap { service in
            (1...5).map { _ in Task { try await service.get("a") } }
        }
        await source.waitForWaiters(10)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(one.provider.calls == 1 && two.provider.calls == 0)
        #expect(one.sent + two.sent == Array(repeating: "t1", count: 10))
        // One of them logs out; the other one keeps the token.
        await one.service.clearAuthorization()
        try await two.service.get("a")
        #expect(one.provider.calls == 1)
    }

    @Test("A refresh ends with the last service that uses it")
    func shutdown() async throws {
        let ended = Mutex(0)
        let provider = CountingProvider { _, _ in
            while !Task.isCancelled { await Task.yield() }
            ended.withLock { $0 += 1 }
            throw CancellationError()
        }
        let one = try TokenFixture(provider: provider)
        let two = try TokenFixture()
        two.service.setAuthorization(one.credentials)
        let source = try one.source
        let (first, second) = (Task { try await one.service.get("a") }, Task { try await two.service.get("a") })
        await source.waitForWaiters(2)
        await one.service.shutdown()
        let failure = await #expect(throws: RequestFailure.self) { try await first.value }
        #expect(failure?.reason == .cancelled)
        #expect(source.waiterCount == 1 && source.isRefreshing)
        #expect(ended.withLock { $0 } == 0)
        await two.service.shutdown()
        await #expect(throws: RequestFailure.self) { try await second.value }
        await source.waitUntilIdle()
        #expect(ended.withLock { $0 } == 1)
    }

    @Test("Releasing a service ends a refresh in the background")
    func released() async throws {
        let provider = CountingProvider { number, _ in
            if number == 1 { return try AccessToken("t1", expiresIn: .seconds(10)) }
            while !Task.isCancelled { await Task.yield() }
            throw CancellationError()
        }
        let clock = ManualClock()
        let credentials = Credentials.tokens(provider, clock: clock.requestClock)
        guard case .tokens(let source) = credentials.content else { return }
        do {
            let fixture = try ServiceFixture()
            fixture.service.setAuthorization(credentials)
            try await fixture.service.get("a")
            clock.advance(by: .milliseconds(9_900))
            try await fixture.service.get("a")
        }
        await source.waitUntilIdle()
        #expect(provider.calls == 2)
    }

    // MARK: Redirects

    /// A service whose server redirects `/v1/a` to a URL, where it responds with a status.
    private func redirecting(to target: String, status: Int) throws -> ServiceFixture {
        let transport = StubTransport { request throws(RequestFailure) in
            if request.url.target == "/v1/a" {
                return TransportResponse(
                    HTTPResponse(status: .found, headerFields: [.location: target]), body: ResponseBody(Data()))
            }
            return TransportResponse(HTTPResponse(status: .init(code: status)), body: ResponseBody(Data()))
        }
        return try ServiceFixture(transport)
    }

    @Test("Another origin receives no token, and its 401 leads to no new one")
    func otherOrigin() async throws {
        let provider = CountingProvider()
        let fixture = try redirecting(to: "https://other.example/", status: 401)
        fixture.service.setAuthorization(.tokens(provider))
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.status == .unauthorized)
        #expect(fixture.transport.requests.map { $0.headerFields[.authorization] } == ["Bearer t1", nil])
        #expect(provider.calls == 1)
    }

    @Test("Each hop to the same origin carries the token, and a request is sent again for only one of them")
    func sameOrigin() async throws {
        let provider = CountingProvider()
        let fixture = try redirecting(to: "/v1/b", status: 401)
        fixture.service.setAuthorization(.tokens(provider))
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        let sent = fixture.transport.requests.map { $0.headerFields[.authorization] }
        #expect(sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    @Test("A request to another server through the same service has no token")
    func foreign() async throws {
        let fixture = try TokenFixture()
        var request = DataRequest(.get, "a")
        request.base = "https://other.example/x"
        _ = try? await fixture.service.send(request)
        #expect(fixture.sent == [nil])
        #expect(fixture.provider.calls == 0)
    }

    // MARK: The provider's own requests

    @Test("The requests that a provider sends through the same service have no token and do not wait")
    func ownRequests() async throws {
        let holder = Mutex<HTTPDataRequestService?>(nil)
        let provider = CountingProvider { number, _ in
            guard let service = holder.withLock({ $0 }) else { throw ProviderFault() }
            // Awaited, in a task of its own, and with a completion handler.
            try await service.get("token/1")
            _ = try await Task { try await service.get("token/2") }.value
            _ = await withCheckedContinuation { continuation in
                _ = service.get("token/3") { continuation.resume(returning: $0) }
            }
            return try AccessToken("t\(number)")
        }
        let transport = StubTransport { request throws(RequestFailure) in
            let isAllowed = request.url.target.hasPrefix("/v1/token") || request.headerFields[.authorization] != nil
            return TransportResponse(
                HTTPResponse(status: isAllowed ? .ok : .unauthorized), body: ResponseBody(Data("{}".utf8)))
        }
        let service = try ServiceFixture(transport).service
        service.setAuthorization(.tokens(provider))
        holder.withLock { $0 = service }
        defer { holder.withLock { $0 = nil } }
        try await service.get("a")
        let sent = transport.requests.map { ($0.url.target, $0.headerFields[.authorization]) }
        #expect(sent.map(\.0) == ["/v1/token/1", "/v1/token/2", "/v1/token/3", "/v1/a"])
        #expect(sent.map(\.1) == [nil, nil, nil, "Bearer t1"])
    }

    @Test("A provider that gets its own token through another provider's service waits for that one")
    func chainOfProviders() async throws {
        let inner = try TokenFixture()
        let provider = CountingProvider { _, _ in
            try await inner.service.get("exchange")
            return try AccessToken("outer")
        }
        let outer = try TokenFixture(accepting: ["outer"], provider: provider)
        try await outer.service.get("a")
        #expect(inner.sent == ["t1"])
        #expect(outer.sent == ["outer"])
    }
}
