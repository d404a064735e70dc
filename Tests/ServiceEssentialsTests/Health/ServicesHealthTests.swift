import EssentialsLocator
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

/// What this package's services say about themselves.
@Suite("Health of this package's services", .timeLimit(.minutes(5)))
struct ServicesHealthTests {
    private let transport = ScriptedTransport()

    private func service(
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        change(&configuration)
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/v1/"), transport: transport, configuration: configuration)
    }

    @Test("A data-request service counts its requests, and names an open breaker until it is shut down")
    func requests() async throws {
        let service = try service {
            var breaker = CircuitBreaker()
            breaker.minimumOutcomes = 2
            $0.limits.breaker = breaker
            $0.retry = .never
        }
        #expect(await service.health() == ServiceHealth(.ok, facts: ["requests": "0"]))
        transport.on(.get, "/v1/a").answer(.serviceUnavailable)
        for _ in 0..<30 { _ = try? await service.send(DataRequest(.get, "a")) }
        let health = await service.health()
        #expect(health.status == .degraded && health.facts["open breakers"] == "1")
        #expect(health.message?.contains("https://h") == true)
        await service.shutdown()
        #expect(await service.health().status == .failed)
    }

    @Test("A service over the engine knows what waits for a connection")
    func engine() async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url))
        let request = Task { try await service.send(DataRequest(.get, "a")) }
        while await service.transportLoad?.inFlight != 1 { await Task.yield() }
        #expect(await service.health().facts == ["requests": "1", "in flight": "1", "waiting": "0"])
        request.cancel()
        _ = await request.result
        await service.shutdown()
    }

    @Test("Pins that have expired are named, those of an environment before those of the transport")
    func pins() async throws {
        func policy(_ date: Date) throws -> TrustPolicy {
            let pins = try ["A", "B"].map { letter in
                try Pin.publicKey("sha256/" + String(repeating: letter, count: 42) + "A=")
            }
            return try TrustPolicy(hosts: [HostRule("h", pins: PinSet(pins, expires: date))])
        }
        let (environment, clock) = (try MutableEnvironment("https://h/v1/"), ManualClock())
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        let service = try HTTPDataRequestService(
            environment: environment, trust: policy(clock.date.addingTimeInterval(10)), configuration: configuration)
        let expected = "2001-01-01T00:00:10Z"
        clock.advance(by: .seconds(9))
        let early = await service.health()
        #expect(early.status == .ok && early.facts["pins expire"] == expected)
        clock.advance(by: .seconds(1))
        let health = await service.health()
        #expect(health.status == .degraded && health.message?.hasPrefix("Pins have expired on \(expected)") == true)
        var snapshot = environment.snapshot
        snapshot.trust = try policy(clock.date.addingTimeInterval(10))
        environment.set(snapshot)
        let other = await service.health()
        #expect(other.status == .ok && other.facts["pins expire"] == "2001-01-01T00:00:20Z")
        await service.shutdown()
    }

    @Test("An outbox counts what was given up")
    func outbox() async throws {
        let folder = TestFolder()
        let service = try service { $0.retry = .never }
        transport.on(.post, "/v1/a").answer(.badRequest)
        let outbox = try Outbox(
            directory: folder.path, requests: service, environment: ConstantEnvironment("https://h/v1/"))
        try await outbox.add(DataRequest(.post, "a"))
        while await outbox.health().status == .ok { await Task.yield() }
        #expect(await outbox.health().facts == ["entries": "1", "given up": "1"])
        await outbox.close()
    }

    #if Persistence
        @Test("A store that cannot be opened has failed")
        func store() async throws {
            let good = SQLitePersistenceService(.temporary(models: []), migrations: [])
            while await good.health().status == .degraded { await Task.yield() }
            let size = try #require(await good.health().facts["log bytes"])
            #expect(await good.health().status == .ok && Int(size) != nil)
            await good.close()
            #expect(await good.health().status == .failed)
            let bad = SQLitePersistenceService(SQLiteStore(path: "/nowhere/store.sqlite", models: []), migrations: [])
            while await bad.health().status == .degraded { await Task.yield() }
            let health = await bad.health()
            #expect(health.status == .failed && health.facts["reason"] != nil)
            await bad.close()
        }
    #endif
}
