import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Requests with access tokens", .timeLimit(.minutes(5)))
struct TokenStageTests {
    @Test("The first request asks the provider, and later ones use the same token")
    func first() async throws {
        let fixture = try TokenFixture()
        for _ in 1...3 { try await fixture.service.get("a") }
        #expect(fixture.sent == ["t1", "t1", "t1"])
        #expect(fixture.provider.calls == 1)
        #expect(fixture.provider.replaced == [nil])
    }

    @Test("A request whose token is refused is sent once more with the new token")
    func refused() async throws {
        let fixture = try TokenFixture(accepting: ["t2"])
        try await fixture.service.get("a")
        try await fixture.service.get("a")
        #expect(fixture.sent == ["t1", "t2", "t2"])
        #expect(fixture.provider.replaced == [nil, "t1"])
    }

    @Test("A second 401 is the result of the request and explains itself")
    func refusedTwice() async throws {
        let fixture = try TokenFixture(accepting: [])
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.reason == .status && failure?.status == .unauthorized)
        #expect(failure?.response?.body == Data("no".utf8))
        #expect(failure?.remedy?.contains("refused a new access token too") == true)
        #expect(fixture.sent == ["t1", "t2"])
    }

    @Test("After three refused tokens in a row the provider is not called for 30 seconds")
    func refusedTooOften() async throws {
        let fixture = try TokenFixture(accepting: [])
        for _ in 1...3 {
            await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        }
        #expect(fixture.sent == ["t1", "t2", "t2", "t3", "t3"])
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.status == .unauthorized)
        #expect(failure?.remedy?.contains("have refused the last 3 new access tokens") == true)
        fixture.clock.advance(by: .seconds(29))
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(fixture.provider.calls == 3)
        fixture.clock.advance(by: .seconds(1))
        fixture.gatekeeper.accept(["t4"])
        try await fixture.service.get("a")
        #expect(fixture.provider.calls == 4)
    }

    @Test("A server that accepts each token once causes five token requests in 30 seconds, not one for each request")
    func acceptedOnce() async throws {
        let fixture = try TokenFixture()
        for _ in 1...50 {
            // The token in use was accepted, and now only the next one is.
            fixture.gatekeeper.accept(["t\(fixture.provider.calls + 1)"])
            _ = try? await fixture.service.get("a")
        }
        #expect(fixture.provider.calls == 5)
        fixture.clock.advance(by: .seconds(30))
        for _ in 1...50 {
            fixture.gatekeeper.accept(["t\(fixture.provider.calls + 1)"])
            _ = try? await fixture.service.get("a")
        }
        #expect(fixture.provider.calls == 10)
    }

    // MARK: Which 401 counts

    @Test(
        "A new token is requested for a 401 with a Bearer challenge or none, unless the scope is insufficient",
        arguments: [
            ([], true), (["Bearer"], true), (["bearer realm=\"a\", error=\"invalid_token\""], true),
            (["Basic realm=b", "BEARER error=invalid_token"], true), (["\""], true),
            (["Basic realm=b"], false), (["Digest realm=a, nonce=b"], false),
            (["Bearer error=\"insufficient_scope\", scope=\"write\""], false),
            (["Bearer error=insufficient_scope"], false),
            (["DPoP error=invalid_token"], false),
        ])
    func challenges(values: [String], counts: Bool) async throws {
        let fixture = try TokenFixture(accepting: ["t2"], values)
        if counts {
            try await fixture.service.get("a")
        } else {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.status == .unauthorized)
        }
        #expect(fixture.sent == (counts ? ["t1", "t2"] : ["t1"]))
    }

    @Test("A 403 leads to no new token", arguments: [403, 500, 400])
    func otherStatus(status: Int) async throws {
        let provider = CountingProvider()
        let fixture = try ServiceFixture(StubTransport(status: status))
        fixture.service.setAuthorization(.tokens(provider))
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(provider.calls == 1)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("A request's own Authorization field is sent without a token, and its 401 leads to no new one")
    func ownField() async throws {
        let fixture = try TokenFixture()
        var request = DataRequest(.get, "a")
        request.headerFields[.authorization] = "Bearer own"
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.status == .unauthorized)
        #expect(fixture.sent == ["own"])
        #expect(fixture.provider.calls == 0)
    }

    @Test("The token replaces the Authorization field of the environment")
    func environmentField() async throws {
        let provider = CountingProvider()
        let fixture = try ServiceFixture(fields: [.authorization: "Basic environment"])
        fixture.service.setAuthorization(.tokens(provider))
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[values: .authorization] == ["Bearer t1"])
    }

    // MARK: Bodies

    @Test("A body that can be read again is sent again unchanged")
    func body() async throws {
        let fixture = try TokenFixture(accepting: ["t2"])
        try await fixture.service.post("a", body: ["x": 1])
        #expect(fixture.transport.requests.map(\.bodyText) == [#"{"x":1}"#, #"{"x":1}"#])
    }

    @Test("A body that cannot be read again is not sent again, and the next request has the new token")
    func streamedBody() async throws {
        let fixture = try TokenFixture(accepting: ["t2"])
        var request = DataRequest(.post, "a")
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data("x".utf8))
        continuation.finish()
        request.body = .stream(stream, length: nil)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.status == .unauthorized)
        #expect(failure?.response?.body == Data("no".utf8))
        #expect(failure?.remedy?.contains("could not be sent again") == true)
        try await fixture.service.get("a")
        #expect(fixture.sent == ["t1", "t2"])
        #expect(fixture.provider.calls == 2)
    }

    // MARK: Failures

    @Test("If the provider fails, all requests fail alike and nothing is sent with the old token")
    func providerFails() async throws {
        let gate = LoopbackGate()
        let provider = CountingProvider { number, _ in
            if number == 1 { return try AccessToken("t1") }
            await gate.opened()
            throw ProviderFault()
        }
        // No request is refused before all are sent, because later ones would wait for the next token.
        let allSent = LoopbackGate()
        let fixture = try TokenFixture(accepting: [], provider: provider, answering: { await allSent.opened() })
        let tasks = (1...20).map { _ in Task { try await fixture.service.get("a") } }
        while fixture.sent.count < 20 { await Task.yield() }
        allSent.open()
        try await fixture.source.waitForWaiters(20)
        gate.open()
        for task in tasks {
            let failure = await #expect(throws: RequestFailure.self) { try await task.value }
            #expect(failure?.reason == .authorization)
            #expect(failure?.underlying as? ProviderFault == ProviderFault())
            #expect(failure?.remedy == "See the underlying error. The provider is called again after 1.0 seconds.")
            #expect(failure?.host == "h")
        }
        // Within a second no request calls the provider or sends anything.
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.underlying is ProviderFault)
        #expect(fixture.sent.allSatisfy { $0 == "t1" } && fixture.sent.count == 20)
        #expect(provider.calls == 2)
        fixture.clock.advance(by: .seconds(1))
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(provider.calls == 3)
        #expect(fixture.sent.count == 20)
    }

    @Test("After a rejection requests fail at once, until the credentials are set again")
    func rejected() async throws {
        let provider = CountingProvider { number, _ in
            if number == 1 { throw AccessTokenRejection("The account is closed.") }
            return try AccessToken("t1")
        }
        let fixture = try TokenFixture(provider: provider)
        for _ in 1...3 {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.reason == .authorization)
            #expect((failure?.underlying as? AccessTokenRejection)?.message == "The account is closed.")
            #expect(failure?.remedy == "Log in again, and set the new credentials.")
            fixture.clock.advance(by: .seconds(3600))
        }
        #expect(provider.calls == 1)
        fixture.service.setAuthorization(fixture.credentials)
        try await fixture.service.get("a")
        #expect(fixture.sent == ["t1"])
    }

    @Test("A provider that takes 30 seconds is cancelled, and its requests fail")
    func overdue() async throws {
        let cancelled = Mutex(false)
        let provider = CountingProvider { _, _ in
            while !Task.isCancelled { await Task.yield() }
            cancelled.withLock { $0 = true }
            throw CancellationError()
        }
        let fixture = try TokenFixture(provider: provider)
        let task = Task { try await fixture.service.get("a") }
        try await fixture.source.waitForWaiters(1)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(30))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .authorization)
        #expect(failure?.message.contains("30.0 seconds") == true)
        try await fixture.source.waitUntilIdle()
        #expect(cancelled.withLock { $0 })
        #expect(fixture.sent == [])
    }

    // MARK: Ending a wait

    @Test("A request that is cancelled stops waiting, and the refresh goes on for the next one")
    func cancelledTask() async throws {
        let gate = LoopbackGate()
        let provider = CountingProvider { _, _ in
            await gate.opened()
            try Task.checkCancellation()
            return try AccessToken("t1")
        }
        let fixture = try TokenFixture(provider: provider)
        let task = Task { try await fixture.service.get("a") }
        try await fixture.source.waitForWaiters(1)
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        let source = try fixture.source
        #expect(source.waiterCount == 0 && source.isRefreshing)
        gate.open()
        try await fixture.service.get("a")
        #expect(provider.calls == 1)
        #expect(fixture.sent == ["t1"])
    }

    @Test("A token ends the wait of its request alone")
    func cancelledToken() async throws {
        let gate = LoopbackGate()
        let provider = CountingProvider { _, _ in
            await gate.opened()
            return try AccessToken("t1")
        }
        let fixture = try TokenFixture(provider: provider)
        let other = Task { try await fixture.service.get("b") }
        let source = try fixture.source
        await source.waitForWaiters(1)
        let result = await withCheckedContinuation { continuation in
            let token = fixture.service.get("a") { continuation.resume(returning: $0) }
            Task {
                await source.waitForWaiters(2)
                token.cancel()
            }
        }
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .cancelled)
        gate.open()
        _ = try await other.value
        #expect(fixture.sent == ["t1"])
    }

    @Test("The wait for a token ends with the total timeout of its request")
    func deadline() async throws {
        let gate = LoopbackGate()
        let fixture = try TokenFixture(
            provider: CountingProvider { _, _ in
                await gate.opened()
                return try AccessToken("t1")
            })
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .milliseconds(5)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.reason == .timeout)
        #expect(try fixture.source.isRefreshing)
        gate.open()
        try await fixture.service.get("a")
    }

    @Test("The second attempt gets the time that is left")
    func timeLeft() async throws {
        let fixture = try TokenFixture(accepting: ["t2"])
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(100)
        _ = try await fixture.service.send(request)
        let limits = fixture.transport.requests.compactMap(\.options.totalTimeout)
        #expect(limits.count == 2)
        #expect(limits.allSatisfy { $0 <= .seconds(100) && $0 > .zero })
        #expect(limits.last.map { $0 < .seconds(100) } == true)
    }

    // MARK: Expiry

    @Test("A token is renewed in the background before it expires, and awaited afterwards")
    func expiry() async throws {
        let provider = CountingProvider { number, _ in try AccessToken("t\(number)", expiresIn: .seconds(1000)) }
        let fixture = try TokenFixture(accepting: ["t1", "t2", "t3"], provider: provider)
        try await fixture.service.get("a")
        fixture.clock.advance(by: .seconds(939))
        try await fixture.service.get("a")
        #expect(provider.calls == 1)
        fixture.clock.advance(by: .seconds(60))
        try await fixture.service.get("a")
        #expect(fixture.sent == ["t1", "t1", "t1"])
        try await fixture.source.waitUntilIdle()
        #expect(provider.calls == 2)
        try await fixture.service.get("a")
        fixture.clock.advance(by: .seconds(1000))
        try await fixture.service.get("a")
        #expect(fixture.sent.suffix(2) == ["t2", "t3"])
    }

    @Test("Services that received their tokens at the same time renew them at different times")
    func spread() async throws {
        var moments: Set<Int> = []
        for seed in 0..<UInt64(8) {
            let numbers = Mutex(SeededNumbers(state: seed))
            let clock = ManualClock()
            let provider = CountingProvider { number, _ in try AccessToken("t\(number)", expiresIn: .seconds(1000)) }
            let source = TokenSource(
                provider, clock: RequestClock(clock, randomBits: { numbers.withLock { $0.next() } }))
            let session = source.attach()
            _ = await source.wait(in: session, Cancellation(), timeout: nil, timer: clock)
            clock.advance(by: .seconds(940))
            var second = 940
            while source.request(from: session).0 != .wait, !source.isRefreshing, second < 970 {
                clock.advance(by: .seconds(1))
                second += 1
            }
            #expect((940...970).contains(second))
            moments.insert(second)
        }
        #expect(moments.count > 3)
    }
}
