import EssentialsFetching
import EssentialsResourcesTestKit
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

// Article begins
actor DictionaryCache: AsyncCache {
    private var models: [AnyHashable: any Sendable] = [:]

    func save<Value>(
        _ model: CachedModel<Value>, for key: ModelKey<Value>
    ) { models[key] = model }
    func load<Value>(_ key: ModelKey<Value>) -> CachedModel<Value>? {
        models[key] as? CachedModel<Value>
    }
    func delete<Value>(_ key: ModelKey<Value>) { models[key] = nil }
    func deleteAll() { models = [:] }
    func contains<Value>(_ key: ModelKey<Value>) -> Bool {
        models[key] != nil
    }
}
// Article ends

@Suite("The article CachingModels")
struct CachingModelsTests {
    private struct Coin: Codable, Sendable, Equatable, Identifiable {
        var id: Int
        var name: String
        var symbol: String
    }

    private struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
    }

    private struct CoinAPI: APIService {
        static var sharedProperties: RequestProperties { RequestHeaders { RequestHeader.acceptLanguage("en") } }
    }

    private enum Coins: Endpoint {
        typealias Parent = CoinAPI
        static let path: RequestPath = "coins"
        static let getAll: APIRequest<[Coin]> = request(.get)
    }

    private let clock = ManualClock()
    private let coins = [
        Coin(id: 1, name: "Bitcoin", symbol: "BTC"), Coin(id: 2, name: "Ether", symbol: "ETH"),
        Coin(id: 3, name: "Orbit", symbol: "ORB"),
    ]

    @Test("The article on caching models shows the default cache, filters, single values and a cache of one's own")
    func caching() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: ScriptedTransport())
        // Article begins
        let files = try FileEntityCache(
            directory: directory, maximumBytes: 64 << 20)
        var configuration = ModelCache.Configuration()
        configuration.maximumAge = .seconds(7 * 86_400)
        let cache = ModelCache(over: files, configuration: configuration)
        // Article ends
        // The dates of a clock that is moved by hand lie far in the past.
        let models = ModelCache(over: files)
        try await save(models)
        try await search(CoinService(requests: requests, cache: models))
        func report(_ last: String) { Issue.record("\(last)") }
        // Article begins
        await cache.flush()
        if cache.problems.count > 0 { report(cache.problems.last ?? "") }
        // Article ends

        try await cache.save(CachedModel(coins, date: Date()), for: ModelKey("coins", partition: "account-7"))
        // Article begins
        try await cache.deleteAll(of: "account-7")
        // Article ends
        // Article begins
        try requests.privateStateRegistry?.add(privateStateStore: cache)
        // Article ends
        #expect(await cache.contains(ModelKey<[Coin]>("coins", partition: "account-7")) == false)
        try await cache.save(CachedModel(coins, date: Date()), for: ModelKey("coins"))
        await requests.clearAuthorization()
        #expect(await cache.contains(ModelKey<[Coin]>("coins")) == false)
    }

    private func save(_ cache: ModelCache) async throws {
        // Article begins
        let key = ModelKey<[Coin]>("coins", schema: 1)
        try await cache.save(CachedModel(coins, date: clock.date), for: key)
        let cached = await cache.load(key)
        let age = cached?.age(at: clock.date)
        // Article ends
        #expect(cached?.value == coins)
        #expect(age == .zero)

        // Article begins
        let visits = CachedValue(ModelKey<Int>("visits"), in: cache)
        let count = try await visits.update { $0 = ($0 ?? 0) + 1 }
        // Article ends
        #expect(count == 1)
    }

    private func search(_ service: CoinService) async throws {
        let hidden = [3]
        let fetched = service.modelKey(named: "coins", as: [Coin].self)
        try await service.cache.save(CachedModel(coins, date: clock.date), for: fetched)
        // Article begins
        let search =
            ModelFilter("bit", in: \Coin.name, \Coin.symbol)
            && !ModelFilter<Coin>(ids: hidden)
        let matching = try await service.models(matching: search, at: "coins")
        // Article ends
        #expect(matching.map(\.id) == [1])
        let defined = try #require(service.modelKey(for: Coins.getAll, as: [Coin].self))
        #expect(defined != fetched)
        try await service.cache.save(CachedModel(coins, date: clock.date), for: defined)
        // Article begins
        let found = try await service.models(matching: search, of: Coins.getAll)
        // Article ends
        #expect(found == matching)

        @Sendable func show(_ coins: [Coin]) {
            #expect(coins == matching)
            withUnsafeCurrentTask { $0?.cancel() }
        }
        await Task {
            // Article begins
            for await coins in service.liveModels(matching: search, at: "coins") {
                show(coins)
            }
            // Article ends
        }.value
    }

    @Test("The dictionary of the article conforms")
    func dictionary() async throws {
        // Article begins
        let violations = await AsyncCacheConformance.check { DictionaryCache() }
        // Article ends
        #expect(violations == [])
        // Article begins
        let observed = ObservedCache(DictionaryCache())
        // Article ends
        #expect(observed.changes.observerCount == 0)
    }
}
