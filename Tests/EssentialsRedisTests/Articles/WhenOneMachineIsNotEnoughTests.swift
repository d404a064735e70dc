import EssentialsCurl
import EssentialsHTTP
import EssentialsLocator
import EssentialsRedis
import EssentialsRequests
import EssentialsTestKit
import EssentialsTransport
import TestTools
import Testing

@Suite("The article WhenOneMachineIsNotEnough", .timeLimit(.minutes(5)), .enabled(if: RedisServer.isThere))
struct WhenOneMachineIsNotEnoughTests {
    /// A service of one machine, as the article composes it.
    private func service(
        _ url: String, trust: TrustPolicy, _ origin: LoopbackServer
    ) async throws -> (service: HTTPDataRequestService, redis: RedisClient) {
        let locator = ServiceLocator(name: "machine")
        var configuration = HTTPDataRequestService.Configuration()
        // Article begins
        try locator.registerLazy(RedisClient.self) { _ in
            let links = try CurlTransport(trust: trust)
            return try RedisClient(url, application: "films", over: links)
        }
        let store = RedisResponseStore(try locator.resolve(RedisClient.self))
        configuration.cache = ResponseCache(store: store)
        // Article ends
        let redis = try locator.resolve(RedisClient.self)
        // Article begins
        try await redis.connect()
        // Article ends
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(origin.url), transport: try CurlTransport(trust: trust),
            configuration: configuration)
        return (service, redis)
    }

    @Test("A machine serves what another one has fetched, until one of them changes it")
    func sharing() async throws {
        let server = try await RedisServer()
        let origin = try LoopbackServer { request in
            request.method == "GET"
                ? .response(headers: [("Cache-Control", "max-age=60")], body: "M") : .response(status: 204)
        }
        let (one, two) = (
            try await service(server.url, trust: .system, origin), try await service(server.url, trust: .system, origin)
        )
        func isHit(_ service: HTTPDataRequestService) async throws -> Bool {
            if case .hit = try await service.send(DataRequest(.get, "films")).cache?.outcome { true } else { false }
        }
        // Storing is not waited for on a slow machine.
        var isShared = false
        for _ in 0..<200 where !isShared {
            _ = try await one.service.send(DataRequest(.get, "films"))
            isShared = try await isHit(two.service)
        }
        #expect(isShared)
        _ = try await two.service.send(DataRequest(.delete, "films"))
        while two.redis.health.waitingChanges > 0 { await Task.yield() }
        let fetched = origin.requestCount
        // The other machine hears of it soon.
        for _ in 0..<200 where origin.requestCount == fetched { _ = try await isHit(one.service) }
        #expect(origin.requestCount > fetched)
    }

    @Test("The rules of access name the keys of the application")
    func rules() throws {
        // Article begins
        print(try RedisClient.accessRules(application: "films"))
        // Article ends
        #expect(try RedisClient.accessRules(application: "films").hasPrefix("resetchannels ~es:films:* -@all +hello"))
    }

    /// It is compiled and not called, because there is no such server.
    private func examples(_ policy: TrustPolicy) async throws {
        let redis = try RedisClient("rediss://cache.example", application: "films", over: CurlTransport(trust: policy))
        try await redis.connect()

        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache(store: RedisResponseStore(redis))
    }

    /// It is compiled and not called.
    private func credentials(_ secret: @escaping @Sendable (String) async throws -> String) -> RedisClient.Configuration
    {
        // Article begins
        var options = RedisClient.Configuration()
        options.credentials = {
            RedisCredentials(user: "films", password: try await secret("redis"))
        }
        // Article ends
        return options
    }
}
