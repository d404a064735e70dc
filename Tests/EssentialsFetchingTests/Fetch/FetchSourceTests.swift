import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchSourceTests {
    @Test("A fetch from the cache emits the cached value and sends nothing")
    func cacheOnly() async throws {
        let fixture = try FetchFixture()
        fixture.preset("old", age: .seconds(5))
        var iterator = fixture.service.get("coins", from: .cache, as: Coin.self).makeAsyncIterator()
        let emission = try #require(try await iterator.next())
        #expect(emission == Emission(Coin(name: "old"), from: .cache, age: .seconds(5)))
        #expect(try await iterator.next() == nil)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A fetch from the cache ends without a value on a miss, and sends nothing")
    func cacheMiss() async throws {
        let fixture = try FetchFixture()
        #expect(await FetchTrace(fixture.service.get("coins", from: .cache)) == FetchTrace([]))
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A fetch from the server emits its value and never reads the cache, before or after")
    func backendOnly() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins", from: .backend)) == FetchTrace(["backend new"]))
        #expect(fixture.cache.calls == [.save])
        #expect(fixture.cache.stored(fixture.key)?.name == "new")
    }

    @Test("The default emits the cached value first and then the server's, each once")
    func cacheThenBackend() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["cache old", "backend new"]))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("The cached value comes first even if the server is faster, and the request is sent during the read")
    func cachedFirst() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        let latch = Latch()
        fixture.cache.hold(.load, until: latch)
        let task = Task { await FetchTrace(fixture.service.get("coins")) }
        _ = try await fixture.transport.request(number: 1)
        latch.open()
        #expect(await task.value == FetchTrace(["cache old", "backend new"]))
    }

    @Test("A cached value up to the maximum age prevents the request, and an older one does not")
    func maximumAge() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old", age: .seconds(60))
        let fetch = fixture.service.get("coins", from: .cacheElseBackend(maximumAge: .seconds(60)), as: Coin.self)
        #expect(await FetchTrace(fetch) == FetchTrace(["cache old"]))
        fixture.clock.advance(by: .seconds(1))
        #expect(await FetchTrace(fetch) == FetchTrace(["backend new"]))
        #expect(await FetchTrace(fetch) == FetchTrace(["cache new"]))
        fixture.clock.date = fixture.clock.date.addingTimeInterval(-10)
        #expect(await FetchTrace(fetch) == FetchTrace(["backend new"]))
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("Without a maximum age any cached value prevents the request")
    func anyAge() async throws {
        let fixture = try FetchFixture()
        fixture.preset("old", age: .seconds(1_000_000))
        #expect(await FetchTrace(fixture.service.get("coins", from: .cacheElseBackend)) == FetchTrace(["cache old"]))
    }

    @Test("After a failure of the server the cached value is emitted with that failure")
    func fallback() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        fixture.preset("old", age: .seconds(7))
        let emission = try #require(
            try await fixture.service.get("coins", from: .backendElseCache, as: Coin.self).first())
        #expect(emission.value.name == "old")
        #expect((emission.source, emission.age) == (.cache, .seconds(7)))
        #expect(emission.failure?.reason == .connection)
    }

    @Test("Without a cached value the failure of the server is thrown")
    func noFallback() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        let fetch = fixture.service.get("coins", from: .backendElseCache, as: Coin.self)
        #expect(await FetchTrace(fetch) == FetchTrace([], .connection))
    }

    @Test(
        "The value that arrives first is emitted, and a cached value that arrives second is dropped",
        arguments: [true, false])
    func both(cacheIsFirst: Bool) async throws {
        let (cache, latch) = (TestCache(), Latch())
        let requests = StubRequests { _ throws(RequestFailure) in
            if cacheIsFirst { await latch.wait() }
            return DataResponse(body: Data(#"{"name":"new"}"#.utf8))
        }
        let service = CoinService(requests: requests, cache: cache)
        cache.put(CachedModel(Coin(name: "old"), date: Date()), for: service.modelKey(named: "coins"))
        if !cacheIsFirst { cache.hold(.load, until: latch) }
        var iterator = service.get("coins", from: .both, as: Coin.self).makeAsyncIterator()
        #expect(try await iterator.next()?.value.name == (cacheIsFirst ? "old" : "new"))
        latch.open()
        #expect(try await iterator.next()?.value.name == (cacheIsFirst ? "new" : nil))
        #expect(try await iterator.next() == nil)
    }

    @Test("Without a cache every source uses the server, and the source cache ends at once")
    func withoutCache() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let service = PlainCoinService(requests: fixture.requests)
        for source in [FetchSource.backend, .cacheThenBackend, .cacheElseBackend, .backendElseCache, .both] {
            #expect(await FetchTrace(service.get("coins", from: source)) == FetchTrace(["backend new"]), "\(source)")
        }
        #expect(fixture.transport.requestCount == 5)
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace([]))
        #expect(fixture.transport.requestCount == 5)
    }

    @Test("A failure of the server is thrown after the cached value, not hidden by it")
    func failureAfterCached() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.internalServerError)
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["cache old"], .status))
    }

    @Test("Defaults belong to the service value, and two services do not share them")
    func defaults() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        var cautious = fixture.service
        cautious.fetchDefaults.source = .cacheElseBackend
        #expect(await FetchTrace(cautious.get("coins")) == FetchTrace(["cache old"]))
        #expect(await FetchTrace(fixture.service.get("coins", from: .backend)) == FetchTrace(["backend new"]))
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["cache new", "backend new"]))
    }

    @Test("The options of a service count if a call has none, and those of a call replace them")
    func defaultOptions() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        var silent = fixture.service
        silent.fetchDefaults.options = FetchOptions(emitsFailure: false)
        #expect(await FetchTrace(silent.get("coins")) == FetchTrace([]))
        #expect(await FetchTrace(silent.get("coins", options: .standard)) == FetchTrace([], .connection))
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace([], .connection))
    }

    @Test(
        "Where a cached value prevents the request, nothing is sent before the cache was read",
        arguments: [true, false])
    func preventing(isHit: Bool) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        if isHit { fixture.preset("old") }
        let latch = Latch()
        fixture.cache.hold(.load, until: latch)
        let options = FetchOptions(cachedPreventsDownload: true)
        let task = Task { await FetchTrace(fixture.service.get("coins", options: options)) }
        await fixture.cache.begun(.load)
        for _ in 0..<100 { await Task.yield() }
        #expect(fixture.transport.requestCount == 0)
        latch.open()
        #expect(await task.value == FetchTrace([isHit ? "cache old" : "backend new"]))
        #expect(fixture.transport.requestCount == (isHit ? 0 : 1))
    }

    @Test("A service keeps its cache if it is used through a protocol")
    func existential() async throws {
        func cached(_ service: some FetchingService) async -> FetchTrace {
            await FetchTrace(service.get("coins", from: .cache))
        }
        let fixture = try FetchFixture()
        fixture.preset("old")
        let service: any FetchingService = fixture.service
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace(["cache old"]))
        #expect(await cached(fixture.service) == FetchTrace(["cache old"]))
        #expect(service.modelCache != nil)
        #expect(PlainCoinService(requests: fixture.requests).modelCache == nil)
    }

    @Test("A source is shown by its name and its maximum age")
    func description() {
        #expect("\(FetchSource.both)" == "both")
        #expect("\(FetchSource.cacheElseBackend(maximumAge: .seconds(60)))" == "cacheElseBackend(60.0 seconds)")
        #expect(FetchSource.cacheElseBackend(maximumAge: nil) == .cacheElseBackend)
    }

    @Test("A sequence of fixed values emits them and then its failure, each time and with handlers too")
    func fixed() async {
        let values = [Emission(Coin(name: "a"), from: .cache), Emission(Coin(name: "b"), from: .backend)]
        let emissions = Emissions(values, failure: RequestFailure(.connection, "x"))
        for _ in 0..<2 { #expect(await FetchTrace(emissions) == FetchTrace(["cache a", "backend b"], .connection)) }
        let reason = await withCheckedContinuation { continuation in
            emissions.start { _ in
            } completion: { result in
                if case .failure(let failure) = result { continuation.resume(returning: failure.reason) }
            }
        }
        #expect(reason == .connection)
        #expect(await FetchTrace(Emissions(values)) == FetchTrace(["cache a", "backend b"]))
    }
}
