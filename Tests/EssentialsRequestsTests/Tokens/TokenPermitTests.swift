import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Permits of an origin while a token is refreshed", .timeLimit(.minutes(5)))
struct TokenPermitTests {
    /// A provider whose second call waits for a gate.
    private static func held(_ gate: LoopbackGate) -> CountingProvider {
        CountingProvider { number, _ in
            if number == 2 { await gate.opened() }
            return try AccessToken("t\(number)")
        }
    }

    /// A transport that accepts the token `t2`, and every request to the token endpoint.
    private static func transport() -> StubTransport {
        StubTransport { request throws(RequestFailure) in
            let isAccepted =
                request.url.target == "/v1/token" || request.headerFields[.authorization] == "Bearer t2"
            return TransportResponse(
                HTTPResponse(status: isAccepted ? .ok : .unauthorized), body: ResponseBody(Data("{}".utf8)))
        }
    }

    @Test("A request that waits for its first token holds no permit")
    func first() async throws {
        let gate = LoopbackGate()
        let provider = CountingProvider { number, _ in
            await gate.opened()
            return try AccessToken("t\(number)")
        }
        let fixture = try TokenFixture(provider: provider) { $0.limits.concurrency = 1 }
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        let tasks = (1...3).map { _ in Task { try await fixture.service.get("a") } }
        try await fixture.source.waitForWaiters(3)
        #expect(limits.state(of: origin) == OriginLimits.State())
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(fixture.sent == ["t1", "t1", "t1"])
        #expect(limits.state(of: origin) == OriginLimits.State())
    }

    @Test("A 401 gives its permit back before its request waits for a new token, and another request is sent")
    func refused() async throws {
        let gate = LoopbackGate()
        let provider = Self.held(gate)
        let fixture = try TokenFixture(accepting: ["t2"], provider: provider) { $0.limits.concurrency = 1 }
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        let source = try fixture.source
        let task = Task { try await fixture.service.get("a") }
        await until { provider.calls == 2 && source.waiterCount == 1 }
        #expect(limits.state(of: origin) == OriginLimits.State())
        // A request with a field of its own waits for no token, and gets the only permit.
        var other = DataRequest(.get, "b")
        other.headerFields[.authorization] = "Bearer t2"
        let response = try await fixture.service.send(other)
        #expect(response.status == .ok)
        #expect(source.isRefreshing)
        gate.open()
        _ = try await task.value
        #expect(fixture.sent == ["t1", "t2", "t2"])
        #expect(fixture.transport.requests.map(\.url.target) == ["/v1/a", "/v1/b", "/v1/a"])
        #expect(limits.state(of: origin) == OriginLimits.State())
    }

    @Test("A streamed 401 gives its permit back before its request waits for a new token")
    func streamed() async throws {
        let gate = LoopbackGate()
        let provider = Self.held(gate)
        let clock = ManualClock()
        let transport = ScriptedTransport(clock: clock)
        transport.on(.get, "/v1/a", headerFields: [.authorization: "Bearer t1"]).answer(.unauthorized, pieces: ["no"])
        transport.on(.get, "/v1/a", headerFields: [.authorization: "Bearer t2"]).answer(text: "here")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        configuration.limits.concurrency = 1
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/v1/"), transport: transport, configuration: configuration)
        let credentials = Credentials.tokens(provider, clock: clock.requestClock)
        guard case .tokens(let source) = credentials.content else { throw TokenFixture.NoSource() }
        service.setAuthorization(credentials)
        let limits = try #require(service.limits)
        let origin = try RequestURL("https://h").origin
        let task: Task<DataResponse, any Error> = Task {
            var request = DataRequest(.get, "a")
            request.options.delivery = .streamed
            return try await service.send(request)
        }
        await until { provider.calls == 2 && source.waiterCount == 1 }
        #expect(limits.state(of: origin) == OriginLimits.State())
        gate.open()
        let response = try await task.value
        #expect(try await response.body.collect(upTo: 100) == Data("here".utf8))
        #expect(transport.requestCount == 2)
        #expect(limits.state(of: origin) == OriginLimits.State())
    }

    @Test("A provider sends its request through the service and origin whose only permit its requests need")
    func sameService() async throws {
        let gate = LoopbackGate()
        let holder = Mutex<HTTPDataRequestService?>(nil)
        let provider = CountingProvider { number, _ in
            guard let service = holder.withLock({ $0 }) else { throw ProviderFault() }
            if number == 2 { await gate.opened() }
            try await service.get("token")
            return try AccessToken("t\(number)")
        }
        let fixture = try ServiceFixture(Self.transport()) { $0.limits.concurrency = 1 }
        let service = fixture.service
        let credentials = Credentials.tokens(provider)
        guard case .tokens(let source) = credentials.content else { throw TokenFixture.NoSource() }
        service.setAuthorization(credentials)
        holder.withLock { $0 = service }
        defer { holder.withLock { $0 = nil } }
        let limits = try #require(service.limits)
        let origin = try RequestURL("https://h").origin
        let tasks = (1...5).map { _ in Task { try await service.get("a") } }
        // All five wait for the second token, after the first one was refused.
        await until { provider.calls == 2 && source.waiterCount == 5 }
        #expect(limits.state(of: origin) == OriginLimits.State())
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(provider.calls == 2 && provider.mostRunning == 1)
        let toEndpoint = fixture.transport.requests.filter { $0.url.target == "/v1/token" }
        #expect(toEndpoint.count == 2)
        #expect(toEndpoint.allSatisfy { $0.headerFields[.authorization] == nil })
        #expect(limits.state(of: origin) == OriginLimits.State())
    }
}
