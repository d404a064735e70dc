import EssentialsFetching
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article MovingFromCachingService")
struct MovingFromCachingServiceTests {
    struct Coin: Codable, Sendable, Equatable {
        var name: String
        var symbol: String
    }

    private struct Image: Sendable, Equatable {
        let bytes: Data

        init(decoding bytes: Data) throws { self.bytes = bytes }
    }

    // Article begins
    struct CoinService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache

        func coins(
            from source: FetchSource? = nil, retry: RetryPolicy? = nil
        ) -> Emissions<[String: Coin]> {
            get("all/coinlist", below: "Data", from: source, retry: retry)
        }
        func cachedCoins(
            matching filter: ModelFilter<Coin>
        ) async throws -> [Coin] {
            let coins = try await coins(from: .cache).first()
            return filter.matching(Array((coins?.value ?? [:]).values))
        }
    }
    // Article ends

    @Test("The article on CachingService shows a service, a filter, a cache and images")
    func article() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        let list = ["1": Coin(name: "Bitcoin", symbol: "BTC"), "2": Coin(name: "Ether", symbol: "ETH")]
        transport.on(.get, "/v1/all/coinlist").answer(json: ["Data": list])
        transport.on(.get, "/v1/media/btc.png").answer(data: Data("picture".utf8))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let service = CoinService(requests: requests, cache: ModelCache())

        var shown: [String] = []
        func show(_ coins: [String: Coin], _ source: Emission<[String: Coin]>.Source) {
            #expect(coins == list)
            shown.append("\(source)")
        }
        // Article begins
        for try await coins in service.coins(retry: .forever.whenReachable) {
            show(coins.value, coins.source)
        }
        let found = try await service.cachedCoins(
            matching: ModelFilter("bit", in: \Coin.name, \Coin.symbol))
        // Article ends
        for try await coins in service.coins() { show(coins.value, coins.source) }
        #expect(shown == ["backend", "cache", "backend"])
        #expect(found == [Coin(name: "Bitcoin", symbol: "BTC")])

        // Article begins
        var configuration = ModelCache.Configuration()
        configuration.maximumAge = .seconds(2 * 86_400)
        let cache = try ModelCache(
            directory: directory, maximumFileBytes: 1_000_000,
            configuration: configuration)
        let key = service.modelKey(
            for: .get("all/coinlist"), below: "Data", as: [String: Coin].self)
        if let key { await cache.delete(key) }
        // Article ends
        #expect(cache.count == 0)

        // Article begins
        let images = try BlobService(
            requests: requests, environment: environment,
            directory: directory + "/images")
        let image = try await images.value(at: "media/btc.png") {
            try Image(decoding: $0)
        }
        // Article ends
        #expect(image == (try Image(decoding: Data("picture".utf8))))
        await images.close()
    }

    /// The rules of the original's tests: one value from each side, and what each option hides.
    @Test("The options of the original have their counterparts")
    func options() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/number").answer(json: 2).thenFail(.connection)
        let cache = ModelCache()
        struct NumberService: FetchingService, ModelCaching {
            let requests: any DataRequestService
            let cache: any AsyncCache
        }
        let service = NumberService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), cache: cache)
        let key = try #require(service.modelKey(for: .get("number"), as: Int.self))
        func values(_ source: FetchSource, _ options: FetchOptions = .standard) async -> [Int] {
            var values: [Int] = []
            do {
                for try await emission in service.get("number", from: source, options: options, as: Int.self) {
                    values.append(emission.value)
                }
            } catch {
                values.append(-1)
            }
            return values
        }
        try await cache.save(CachedModel(1, date: Date()), for: key)
        #expect(await values(.cache) == [1])
        #expect(await values(.cacheThenBackend, FetchOptions(cachedPreventsDownload: true)) == [1])
        #expect(transport.requestCount == 0)
        #expect(await values(.cacheThenBackend, FetchOptions(caches: false)) == [1, 2])
        #expect(await values(.cacheThenBackend) == [1, -1])
        #expect(await values(.cacheThenBackend, FetchOptions(emitsFailure: false)) == [1])
        #expect(await values(.backend) == [-1])
    }
}
