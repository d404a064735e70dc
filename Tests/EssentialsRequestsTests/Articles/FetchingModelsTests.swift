import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article FetchingModels")
struct FetchingModelsTests {
    struct Coin: Codable, Sendable {
        var name: String
    }

    /// Keeps models in memory.
    actor MemoryCache: AsyncCache {
        private var models: [String: any Sendable] = [:]

        func save<Value: Codable & Sendable>(_ model: CachedModel<Value>, for key: ModelKey<Value>) {
            models["\(key)"] = model
        }

        func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) -> CachedModel<Value>? {
            models["\(key)"] as? CachedModel<Value>
        }

        func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) { models["\(key)"] = nil }

        func deleteAll() { models = [:] }

        func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) -> Bool { models["\(key)"] != nil }
    }

    // Article begins
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache

        func coins() -> Emissions<[Coin]> {
            get("coins", retry: .attempts(5).whenReachable)
        }
        func coin(_ id: Int) -> Emissions<Coin> {
            get(
                "coins/\(id)", from: .cacheElseBackend(maximumAge: .seconds(60))
            )
        }
    }
    // Article ends

    // Article begins
    struct CountryService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        let problems = CacheProblemLog()
        var fetchDefaults: FetchDefaults {
            FetchDefaults(source: .cacheElseBackend, cacheProblems: problems)
        }

        func countries() -> Emissions<[String]> {
            get("countries", below: "data.names")
        }
        func update() -> Emissions<[String]> {
            get(
                "countries", below: "data.names", from: .backend,
                options: FetchOptions(emitsValue: false))
        }
    }
    // Article ends

    private let transport = ScriptedTransport()
    private let requests: HTTPDataRequestService
    private let cache = MemoryCache()

    init() throws {
        requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
    }

    @Test("The article on fetching models shows a loop, the cover of a failure, and handlers")
    func coins() async throws {
        transport.on(.get, "/v1/coins").answer(json: [Coin(name: "a")]).thenFail(.protocolViolation)
        var shown: [String] = []
        func show(_ coins: [Coin], isOutdated: Bool, age: Duration?) {
            shown.append("\(coins.map(\.name)) \(isOutdated) \(age != nil)")
        }

        // Article begins
        let service = CoinService(requests: requests, cache: cache)
        for try await coins in service.coins() {
            show(coins.value, isOutdated: coins.source == .cache, age: coins.age)
        }
        // Article ends

        // Article begins
        for try await coins in service.get(
            "coins", from: .backendElseCache, as: [Coin].self)
        {
            show(coins.value, isOutdated: coins.failure != nil, age: coins.age)
        }
        // Article ends
        #expect(shown == ["[\"a\"] false true", "[\"a\"] true true"])

        // Article begins
        let token = service.coins().start { coins in
            print(coins.value.count, coins.source)
        } completion: { result in
            print(result)
        }
        // Article ends
        token.cancel(silently: true)
        transport.on(.get, "/v1/coins/7").answer(json: Coin(name: "b"))
        for _ in 0..<2 { #expect(try await service.coin(7).last()?.value.name == "b") }
        #expect(transport.requests.count { $0.url.path == "/v1/coins/7" } == 1)
    }

    @Test("The article on fetching models shows defaults, and a part of a document")
    func countries() async throws {
        transport.on(.get, "/v1/countries").answer(json: ["data": ["names": ["Chad"]]])
        let service = CountryService(requests: requests, cache: cache)
        #expect(try await service.update().last() == nil)
        #expect(try await service.countries().last()?.source == .cache)
        #expect(service.problems.current.count == 0)
    }

    @Test("The article on fetching models shows how an account is entered again")
    func accounts() async throws {
        struct AccountService: FetchingService, ModelCaching {
            let requests: any DataRequestService
            let cache: any AsyncCache
            let partition: EntityPartition = "account-7"
        }
        let service = AccountService(requests: requests, cache: cache)
        transport.on(.get, "/v1/coins").answer(json: Coin(name: "a"))
        try requests.setAuthorization(.bearer("old"))
        _ = try await service.get("coins", from: .backend, as: Coin.self).last()
        let token = "new"
        // Article begins
        try requests.setAuthorization(.bearer(token))
        requests.enter("account-7")
        // Article ends
        #expect(try await service.get("coins", from: .cache, as: Coin.self).last()?.value.name == "a")
        try requests.setAuthorization(.bearer("another-user"))
        #expect(try await service.get("coins", from: .cache, as: Coin.self).last() == nil)
    }

    @Test("The article on fetching models shows writes")
    func writes() async throws {
        let service = CoinService(requests: requests, cache: cache)
        transport.on(.post, "/v1/coins").answer(.created, json: Coin(name: "Ada"))
        transport.on(.post, "/v1/views").answer(.noContent)
        try await cache.save(
            CachedModel([], date: Date()), for: #require(service.modelKey(for: .get("coins"), as: [Coin].self)))

        // Article begins
        let coin: Coin = try await service.post(
            "coins", body: Coin(name: "Ada"),
            outdating: [.get("coins", as: [Coin].self)])
        try await service.fireAndForget(
            .post, "views", parameters: ["coin": coin.name])
        // Article ends
        #expect(try await service.get("coins", from: .cache, as: [Coin].self).last() == nil)
        #expect(transport.requestCount == 2)
    }
}
