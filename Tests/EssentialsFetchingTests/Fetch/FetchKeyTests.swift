import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct FetchKeyTests {
    private func key(_ request: DataRequest, below path: String? = nil) throws -> ModelKey<Coin>? {
        try FetchFixture().service.modelKey(for: request, below: path)
    }

    @Test("The name of a GET request is its path with the query in the order of the names")
    func names() throws {
        #expect(try key(.get("coins"))?.name == "coins")
        #expect(try key(.get("/coins"))?.name == "coins")
        #expect(try key(.get("coins?b=2", parameters: ["c": 3], query: ["a": "1"]))?.name == "coins?a=1&b=2&c=3")
        #expect(try key(.get("coins", query: ["tag": "y", "tag": "x"]))?.name == "coins?tag=y&tag=x")
        #expect(try key(.head("coins"))?.name == "HEAD coins")
        #expect(try key(.get("coins"), below: "data.items")?.name == "coins#data.items")
        var foreign = DataRequest(.get, "coins")
        foreign.base = "https://other.example.com/v2/"
        #expect(try key(foreign)?.name == "https://other.example.com/v2/ coins")
    }

    @Test("Different requests have different names, for any paths and key paths")
    func injective() throws {
        let service = try FetchFixture().service
        let paths = [
            "a", "a#b", "a#", "HEAD a", "HEAD", "https://h/ a", "https://h/ a#b", "a b", "\u{1}1:a", "\u{1}0:0:1:a",
            "\u{1}0:0:3:a#b", "0:0:1:a", "a?x=1", "a%23b",
        ]
        var known: [String: String] = [:]
        for path in paths {
            for method in [HTTPRequest.Method.get, .head] {
                for base in [nil, "https://h/", "https://h/a"] {
                    for nested in [nil, "b", "b.c", "b#c", "b c", "1:b"] {
                        var request = DataRequest(method, path)
                        if let base { request.base = RequestBase(base) }
                        let key = try #require(service.modelKey(for: request, below: nested, as: Coin.self))
                        let parts = "\(method) \(base ?? "-") \(path.debugDescription) \(nested ?? "-")"
                        let former = known.updateValue(parts, forKey: key.name)
                        #expect(former == nil, "\(former ?? "") and \(parts)")
                    }
                }
            }
        }
        #expect(try key(.get("a#b"))?.name != key(.get("a"), below: "b")?.name)
        #expect(try key(.get("HEAD a"))?.name != key(.head("a"))?.name)
    }

    @Test("Fields that select a representation distinguish keys, and conditions and traces do not")
    func variants() throws {
        #expect(try key(.get("a", headerFields: [.accept: "text/csv"]))?.variant == "accept: text/csv")
        #expect(
            try key(.get("a", headerFields: [.accept: "x/y", .acceptLanguage: "de"]))
                == key(.get("a", headerFields: [.acceptLanguage: "de", .accept: "x/y"])))
        #expect(try key(.get("a", headerFields: [.cacheControl: "no-cache", .ifNoneMatch: "\"1\""]))?.variant == "")
        let tenant = try #require(HTTPField.Name("X-Tenant"))
        let (one, other) = (
            try key(.get("a", headerFields: [tenant: "1"])), try key(.get("a", headerFields: [tenant: "2"]))
        )
        #expect(one != other)
        #expect(one?.variant.contains(": 1") == false)
    }

    @Test("A request with a body, an effect, a range or credentials of its own has no key")
    func withoutKey() throws {
        #expect(try key(.post("coins")) == nil)
        #expect(try key(.delete("coins")) == nil)
        #expect(try key(.get("coins", headerFields: [.authorization: "Bearer x"])) == nil)
        #expect(try key(.get("coins", headerFields: [.cookie: "a=b"])) == nil)
        #expect(try key(.get("coins", headerFields: [.range: "bytes=0-9"])) == nil)
        var request = DataRequest(.get, "coins")
        request.body = .json(["a": 1])
        #expect(try key(request) == nil)
    }

    @Test("Two endpoints with one model type have separate slots")
    func endpoints() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "coin"))
        fixture.transport.on(.get, "/v1/tokens").answer(json: Coin(name: "token"))
        for path in ["coins", "tokens"] {
            _ = try await fixture.service.get(path, from: .backend, as: Coin.self).last()
        }
        #expect(await FetchTrace(fixture.service.get("coins", from: .cache)) == FetchTrace(["cache coin"]))
        #expect(await FetchTrace(fixture.service.get("tokens", from: .cache)) == FetchTrace(["cache token"]))
    }

    @Test("Two types at one endpoint have separate slots")
    func types() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "coin"))
        _ = try await fixture.service.get("coins", from: .backend, as: Coin.self).last()
        #expect(try await fixture.service.get("coins", from: .cache, as: [String: String].self).last() == nil)
    }

    @Test("Models of one account are not found by another one, not even to cover a failure")
    func accounts() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "Ada's")).thenFail(.connection)
        var service = fixture.service
        service.partition = "ada"
        #expect(await FetchTrace(service.get("coins")) == FetchTrace(["backend Ada's"]))
        service.partition = "ben"
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace([]))
        #expect(await FetchTrace(service.get("coins", from: .backendElseCache)) == FetchTrace([], .connection))
        service.partition = "ada"
        #expect(await FetchTrace(service.get("coins", from: .backendElseCache)) == FetchTrace(["cache Ada's !"]))
    }

    @Test("After a change of the schema the old model is not found")
    func schema() async throws {
        let fixture = try FetchFixture()
        fixture.preset("old")
        var service = fixture.service
        service.schemaVersion = 1
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace([]))
        service.schemaVersion = 0
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace(["cache old"]))
    }

    @Test("Another environment has other models, even if it has no name")
    func environments() async throws {
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/coins").answer(json: Coin(name: "production"))
        let service = CoinService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), cache: TestCache())
        _ = try await service.get("coins", from: .backend, as: Coin.self).last()
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://staging.example.com/v1/")))
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace([]))
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        #expect(await FetchTrace(service.get("coins", from: .cache)) == FetchTrace(["cache production"]))
    }

    @Test("A given key is used as it is, even for a POST that is a query")
    func given() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.post, "/v1/search").answer(json: Coin(name: "found"))
        let key = ModelKey<Coin>("search")
        let request = DataRequest(.post, "search", parameters: ["text": "bit"])
        #expect(
            await FetchTrace(fixture.service.fetch(request, from: .backend, key: key)) == FetchTrace(["backend found"]))
        #expect(fixture.cache.stored(key)?.name == "found")
        #expect(await FetchTrace(fixture.service.fetch(request, from: .cache, key: key)) == FetchTrace(["cache found"]))
    }

    @Test("A key without a cache changes nothing")
    func uselessKey() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let service = PlainCoinService(requests: fixture.requests)
        let key = ModelKey<Coin>("coins")
        #expect(await FetchTrace(service.get("coins", key: key)) == FetchTrace(["backend new"]))
        #expect(await FetchTrace(service.get("coins", from: .cache, key: key)) == FetchTrace([]))
    }

    @Test("A POST without a key is neither read from the cache nor stored")
    func unkeyed() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.post, "/v1/search").answer(json: Coin(name: "found"))
        let request = DataRequest(.post, "search", parameters: ["text": "bit"])
        #expect(await FetchTrace(fixture.service.fetch(request)) == FetchTrace(["backend found"]))
        #expect(fixture.cache.calls == [])
    }
}
