import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Limits and joined requests of services", .timeLimit(.minutes(5)))
struct LimitsOfServicesTests {
    /// A transport whose requests wait for a gate.
    private static func held(by gate: LoopbackGate) -> StubTransport {
        StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            guard !Task.isCancelled else { throw RequestFailure(.cancelled, "The request was cancelled.") }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
        }
    }

    private static func reason(_ task: Task<DataResponse, any Error>) async -> RequestFailure.Reason? {
        guard case .failure(let error) = await task.result else { return nil }
        return (error as? RequestFailure)?.reason
    }

    private func send(
        _ fixture: ServiceFixture, _ path: String = "a", finishes: Bool = false
    ) -> Task<DataResponse, any Error> {
        Task {
            var request = DataRequest(.get, path)
            request.finishesOnShutdown = finishes
            return try await fixture.service.send(request)
        }
    }

    @Test("A shutdown ends requests in the line as cancelled, and a grace period lets them be sent")
    func shutdown() async throws {
        let gate = LoopbackGate()
        let fixture = try ServiceFixture(Self.held(by: gate)) { $0.limits.concurrency = 1 }
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        let first = send(fixture, finishes: true)
        await until { limits.state(of: origin).permitsInUse == 1 }
        let second = send(fixture, finishes: true)
        await until { limits.state(of: origin).waiting == 1 }
        let third = send(fixture)
        await until { limits.state(of: origin).waiting == 2 }
        let shutdown = Task { await fixture.service.shutdown(grace: .seconds(60)) }
        #expect(await Self.reason(third) == .cancelled)
        #expect(limits.state(of: origin) == OriginLimits.State(permitsInUse: 1, waiting: 1))
        gate.open()
        #expect(try await first.value.status == .ok)
        #expect(try await second.value.status == .ok)
        await shutdown.value
        #expect(limits.state(of: origin) == OriginLimits.State())
        #expect(fixture.transport.requests.count == 2)
    }

    @Test("A change of the environment ends requests in the line and in groups as cancelled, if it ends requests")
    func environmentChange() async throws {
        let gate = LoopbackGate()
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/")))
        let fixture = ServiceFixture(Self.held(by: gate), environment: environment) {
            $0.limits.concurrency = 1
            $0.joins = true
            $0.onEnvironmentChange = .cancelRequests
        }
        let limits = try #require(fixture.service.limits)
        let origin = try RequestURL("https://h").origin
        let requests = [send(fixture, "a"), send(fixture, "a"), send(fixture, "b"), send(fixture, "b")]
        await until { limits.state(of: origin) == OriginLimits.State(permitsInUse: 1, waiting: 1) }
        await until { fixture.service.requestsInFlight == 4 }
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/")))
        for request in requests { #expect(await Self.reason(request) == .cancelled) }
        await until { limits.state(of: origin) == OriginLimits.State() }
        gate.open()
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("A shutdown ends joined requests as cancelled, and the exchange with them")
    func shutdownOfGroup() async throws {
        let gate = LoopbackGate()
        let fixture = try ServiceFixture(Self.held(by: gate)) { $0.joins = true }
        let requests = (0..<3).map { _ in send(fixture) }
        await until { fixture.service.requestsInFlight == 3 && fixture.transport.requests.count == 1 }
        await fixture.service.shutdown()
        for request in requests { #expect(await Self.reason(request) == .cancelled) }
        #expect(fixture.transport.requests.count == 1)
    }

    @Test(
        "New credentials, cleared ones and a change of the environment and back separate equal requests",
        arguments: 0..<3)
    func closing(kind: Int) async throws {
        let gate = LoopbackGate()
        let snapshot = EnvironmentSnapshot(baseURL: try RequestURL("https://h/"))
        let environment = MutableEnvironment(snapshot)
        let fixture = ServiceFixture(Self.held(by: gate), environment: environment) { $0.joins = true }
        if kind == 0 { fixture.service.setAuthorization(try .bearer("x")) }
        let before = [send(fixture), send(fixture)]
        await until { fixture.service.settings.joins?.usage.waiters == 2 && fixture.transport.requests.count == 1 }
        switch kind {
        // The same credentials again: only the call separates the requests.
        case 0: fixture.service.setAuthorization(try .bearer("x"))
        case 1: await fixture.service.clearAuthorization()
        default:
            environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/")))
            environment.set(snapshot)
        }
        var after = [send(fixture)]
        await until { fixture.service.settings.joins?.usage.waiters == 3 }
        // The service learns of a change of the environment in a task of its own.
        while kind == 2, fixture.transport.requests.count < 2 {
            after.append(send(fixture))
            await until { fixture.service.settings.joins?.usage.waiters == 2 + after.count }
        }
        await until { fixture.transport.requests.count == 2 }
        gate.open()
        for request in before + after { #expect(try await request.value.status == .ok) }
        #expect(fixture.transport.requests.count == 2)
    }

    @Test("Services never share requests")
    func services() async throws {
        let gate = LoopbackGate()
        let transport = Self.held(by: gate)
        let fixtures = try (0..<2).map { _ in try ServiceFixture(transport) { $0.joins = true } }
        let requests = fixtures.map { send($0) }
        await until { transport.requests.count == 2 }
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
    }

    @Test("A service for any server joins its requests too")
    func unsafeService() async throws {
        let gate = LoopbackGate()
        let transport = Self.held(by: gate)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.joins = true
        let service = HTTPDataRequestService.forAnyServer(over: transport, configuration: configuration)
        let requests = (0..<5).map { _ in Task { try await service.get("https://h/a") } }
        await until { transport.requests.count == 1 }
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
        #expect(transport.requests.count == 1)
    }

    // MARK: Over the network

    private func withServer(
        _ change: (inout HTTPDataRequestService.Configuration) -> Void,
        _ handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
    ) async throws {
        var configuration = HTTPDataRequestService.Configuration()
        change(&configuration)
        try await withLoopbackService(configuration, serving: handler, body)
    }

    @Test("A server never sees more requests at once than the concurrency")
    func concurrencyOverNetwork() async throws {
        let counts = Mutex((now: 0, most: 0))
        let handler: @Sendable (ServerRequest) -> ServerReply = { _ in
            counts.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            defer { counts.withLock { $0.now -= 1 } }
            return .response(body: "x")
        }
        try await withServer({ $0.limits.concurrency = 3 }, handler) { service, server in
            try await withThrowingTaskGroup { group in
                for number in 0..<200 {
                    group.addTask {
                        var request = DataRequest(.get, "\(number)")
                        if number % 2 == 0 { request.options.delivery = .streamed }
                        let response = try await service.send(request)
                        // Some bodies are dropped instead.
                        if number % 4 != 0 { #expect(try await response.body.collect(upTo: 10).count == 1) }
                    }
                }
                try await group.waitForAll()
            }
            let origin = try RequestURL(server.url).origin
            #expect(service.limits?.state(of: origin) == OriginLimits.State())
        }
        #expect(counts.withLock { $0.most } <= 3)
    }

    @Test("A thousand equal requests over the network are one request at the server")
    func joinedOverNetwork() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.wait()
            return .response(body: "same")
        }
        let transport = try CurlTransport()
        let fixture = ChainFixture(over: transport) { $0.joins = true }
        let url = try RequestURL(server.url + "/a")
        let requests = (0..<1_000).map { _ in fixture.begin { $0.url = url } }
        await until { fixture.settings.joins?.usage.waiters == 1_000 }
        gate.open()
        for request in requests { #expect(try await request.value.get().body.data == Data("same".utf8)) }
        #expect(server.requestCount == 1)
        await transport.shutdown()
        server.stop()
    }

    @Test("The circuit of a server that is down opens, and closes with the first success after it is up again")
    func breakerOverNetwork() async throws {
        let isUp = Mutex(false)
        var breaker = CircuitBreaker()
        breaker.minimumOutcomes = 3
        breaker.openTime = .milliseconds(1)
        try await withServer({ $0.limits.breaker = breaker }) { _ in
            isUp.withLock { $0 } ? .response(body: "x") : .close
        } _: { service, server in
            var reasons: Set<RequestFailure.Reason> = []
            // Until the circuit has opened once.
            while !reasons.contains(.circuitOpen) {
                do throws(RequestFailure) { try await service.get("a") } catch { reasons.insert(error.reason) }
            }
            #expect(reasons == [.interrupted, .circuitOpen])
            isUp.withLock { $0 = true }
            let origin = try RequestURL(server.url).origin
            await until { service.limits?.state(of: origin).circuit == .halfOpen }
            #expect(try await service.get("a").status == .ok)
            #expect(service.limits?.state(of: origin) == OriginLimits.State())
        }
    }
}
