import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Requests that wait in a stage while their service changes", .timeLimit(.minutes(5)))
struct WaitingStagesTests {
    enum Place: CaseIterable { case backoff, refresh, gate }

    /// A service whose requests wait in one place until it lets them continue.
    private struct Fixture {
        let place: Place
        let clock = ManualClock()
        let gate = LoopbackGate()
        let environment: MutableEnvironment
        let provider: CountingProvider
        let transport: StubTransport
        let service: HTTPDataRequestService
        let source: TokenSource

        init(_ place: Place, onChange: HTTPDataRequestService.EnvironmentChange = .finishRequests) throws {
            self.place = place
            environment = try MutableEnvironment("https://h/")
            provider = CountingProvider { [gate] number, _ in
                if place == .refresh { await gate.opened() }
                return try AccessToken("t\(number)")
            }
            let failed = Mutex<Set<Substring>>([])
            transport = StubTransport { [gate] request throws(RequestFailure) in
                if place == .gate { await gate.opened() }
                let isFirst = failed.withLock { $0.insert(request.url.path).inserted }
                return TransportResponse(
                    HTTPResponse(status: place == .backoff && isFirst ? .serviceUnavailable : .ok),
                    body: ResponseBody(Data("{}".utf8)))
            }
            let clock = clock
            service =
                ServiceFixture(transport, environment: environment) {
                    $0.clock = clock.requestClock
                    $0.retry = .standard
                    $0.limits.concurrency = place == .gate ? 1 : 100
                    $0.onEnvironmentChange = onChange
                }.service
            let credentials = Credentials.tokens(provider, clock: clock.requestClock)
            service.setAuthorization(credentials)
            guard case .tokens(let source) = credentials.content else { throw TokenFixture.NoSource() }
            self.source = source
        }

        var state: OriginLimits.State {
            get throws {
                service.limits?.state(of: try RequestURL("https://h/").origin) ?? OriginLimits.State()
            }
        }

        func send(_ path: String, finishes: Bool) -> Task<DataResponse, any Error> {
            Task { [service] in
                var request = DataRequest(.get, path)
                request.finishesOnShutdown = finishes
                return try await service.send(request)
            }
        }

        /// Returns when this many requests wait.
        func waiting(_ count: Int) async throws {
            switch place {
            case .backoff: await clock.waitForSleepers(count: count)
            case .refresh: await source.waitForWaiters(count)
            case .gate: try await until { try state.waiting == count }
            }
        }

        /// Lets the requests continue until the task has ended.
        func release<Value>(_ task: Task<Value, any Error>) async {
            gate.open()
            let advancing = Task { [clock, place] in
                // Elsewhere the sleepers are timeouts.
                while place == .backoff, !Task.isCancelled {
                    await clock.waitForSleepers(count: 1)
                    clock.advanceToNextDeadline()
                }
            }
            _ = await task.result
            advancing.cancel()
            await advancing.value
        }

        /// Returns when no stage has anything of a request left.
        func isUnused() async throws {
            await until { service.requestsInFlight == 0 }
            try await until { try state == OriginLimits.State() }
            await until { source.waiterCount == 0 }
            await until { clock.sleeperCount == 0 }
            await until { service.settings.joins?.usage ?? (0, 0) == (0, 0) }
        }
    }

    private static func reason(_ task: Task<DataResponse, any Error>) async -> RequestFailure.Reason? {
        guard case .failure(let error) = await task.result else { return nil }
        return (error as? RequestFailure)?.reason
    }

    // MARK: Shutdown

    @Test("A grace period lets waiting requests finish, and ends those that do not finish", arguments: Place.allCases)
    func gracePeriod(place: Place) async throws {
        let fixture = try Fixture(place)
        // At the gate, the first one holds the only permit.
        let first = fixture.send("first", finishes: true)
        if place == .gate { await until { fixture.transport.requests.count == 1 } }
        let finishing = fixture.send("finishing", finishes: true)
        let ending = fixture.send("ending", finishes: false)
        try await fixture.waiting(place == .gate ? 2 : 3)
        let shutdown = Task { await fixture.service.shutdown(grace: .seconds(600)) }
        #expect(await Self.reason(ending) == .cancelled)
        #expect(fixture.service.requestsInFlight == 2)
        await fixture.release(finishing)
        #expect(try await first.value.status == .ok)
        #expect(try await finishing.value.status == .ok)
        await shutdown.value
        try await fixture.isUnused()
        let paths = fixture.transport.requests.map(\.url.path)
        #expect(Set(paths) == (place == .backoff ? ["/first", "/finishing", "/ending"] : ["/first", "/finishing"]))
        #expect(paths.filter { $0 == "/ending" }.count <= 1)
    }

    @Test("The end of a grace period ends all waiting requests once, as cancelled", arguments: Place.allCases)
    func endOfGracePeriod(place: Place) async throws {
        let fixture = try Fixture(place)
        let first = fixture.send("first", finishes: true)
        if place == .gate { await until { fixture.transport.requests.count == 1 } }
        let others = (0..<3).map { fixture.send("\($0)", finishes: true) }
        try await fixture.waiting(place == .gate ? 3 : 4)
        let count = fixture.transport.requests.count
        let graceful = Task { await fixture.service.shutdown(grace: .seconds(600)) }
        await until { fixture.service.isClosed }
        await fixture.service.shutdown()
        // The transport of this test does not end what it has begun, and the others are not sent.
        for other in others { #expect(await Self.reason(other) == .cancelled) }
        await fixture.release(first)
        await graceful.value
        try await fixture.isUnused()
        #expect(fixture.transport.requests.count == count)
        #expect(fixture.transport.shutdownCount == 2)
    }

    // MARK: Environment

    @Test("A request that waits for a token finishes at its server after a change of the environment")
    func refreshDuringChange() async throws {
        let fixture = try Fixture(.refresh)
        let request = fixture.send("a", finishes: false)
        try await fixture.waiting(1)
        try fixture.environment.set(baseURL: "https://other/")
        fixture.gate.open()
        #expect(try await request.value.status == .ok)
        _ = try await fixture.service.send(DataRequest(.get, "b"))
        let sent = fixture.transport.requests.map { request in
            "\(request.url.origin.host) \(request.headerFields[.authorization] ?? "-")"
        }
        #expect(sent == ["h Bearer t1", "other -"])
        try await fixture.isUnused()
    }

    @Test("A change that cancels requests ends the wait for a token, and the token is kept for a switch back")
    func cancelledRefresh() async throws {
        let fixture = try Fixture(.refresh, onChange: .cancelRequests)
        let requests = (0..<3).map { fixture.send("\($0)", finishes: false) }
        try await fixture.waiting(3)
        try fixture.environment.set(baseURL: "https://other/")
        for request in requests { #expect(await Self.reason(request) == .cancelled) }
        #expect(fixture.source.isRefreshing)
        #expect(fixture.source.waiterCount == 0)
        #expect(fixture.transport.requests.isEmpty)
        fixture.gate.open()
        await fixture.source.waitUntilIdle()
        try await fixture.isUnused()
        try fixture.environment.set(baseURL: "https://h/")
        _ = try await fixture.service.send(DataRequest(.get, "later"))
        #expect(fixture.transport.requests.map { $0.headerFields[.authorization] } == ["Bearer t1"])
        #expect(fixture.provider.calls == 1)
    }
}
