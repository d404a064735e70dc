import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

private enum Coins: Endpoint {
    typealias Parent = EnvironmentAPI
    static let path: RequestPath = "coins"

    static func get(id: Int) -> APIRequest<Coin> { request(.get, "\(id)") }
    static func rename(id: Int, to name: String) -> APIRequest<Coin> {
        request(.patch, "\(id)") { RequestContent(Coin(name: name)) }
    }
}

@Suite struct FetchWritingTests {
    @Test("Each method sends its body and reads the model of the response")
    func methods() async throws {
        let fixture = try FetchFixture()
        let service = fixture.service
        fixture.transport.on(nil, "/v1/coins/7").answer { request in
            let body = String(decoding: request.body, as: UTF8.self)
            return ScriptedAnswer(json: Coin(name: "\(request.method.rawValue) \(body)"))
        }
        let coin = Coin(name: "x")
        let body = #"{"name":"x"}"#
        #expect(try await service.post("coins/7", body: coin, as: Coin.self).name == "POST \(body)")
        #expect(
            try await service.post("coins/7", body: .parameters(["name": "x"]), as: Coin.self).name == "POST \(body)")
        #expect(try await service.put("coins/7", body: coin, as: Coin.self).name == "PUT \(body)")
        #expect(try await service.put("coins/7", body: .parameters(["name": "x"]), as: Coin.self).name == "PUT \(body)")
        #expect(try await service.patch("coins/7", body: coin, as: Coin.self).name == "PATCH \(body)")
        #expect(
            try await service.patch("coins/7", body: .parameters(["name": "x"]), as: Coin.self).name == "PATCH \(body)")
        #expect(try await service.delete("coins/7", as: Coin.self).name == "DELETE ")
        #expect(fixture.cache.calls == [])
    }

    @Test("Requests without a model ignore the body of the response")
    func withoutModel() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(nil, "/v1/views").answer(text: "x")
        try await fixture.service.delete("views")
        try await fixture.service.fireAndForget(.post, "views", parameters: ["id": 7])
        try await fixture.service.fireAndForget(DataRequest(.put, "views"))
        #expect(fixture.transport.requests.map(\.method) == [.delete, .post, .put])
        #expect(fixture.transport.requests[1].body == Data(#"{"id":7}"#.utf8))
    }

    @Test("An unexpected status is the failure of a request without a model")
    func failure() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(nil, "/v1/views").answer(.conflict)
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.fireAndForget(.post, "views")
        }
        #expect(failure?.status == .conflict)
    }

    @Test("A successful write deletes only the models that it makes outdated, by key, path, request and definition")
    func outdating() async throws {
        let fixture = try FetchFixture()
        let service = fixture.service
        fixture.transport.on(.post, "/v1/coins").answer(.created, json: Coin(name: "x"))
        let path: ModelKey<Coin> = service.modelKey(named: "coins?page=1")
        let named: ModelKey<Int> = service.modelKey(named: "count")
        let kept: ModelKey<Coin> = service.modelKey(named: "coins?page=2")
        let definition = try #require(service.modelKey(for: Coins.get(id: 7), as: Coin.self))
        let list: ModelKey<[Coin]> = service.modelKey(named: "coins")
        let (coin, date) = (Coin(name: "old"), fixture.clock.date)
        for key in [path, kept, definition] { fixture.cache.put(CachedModel(coin, date: date), for: key) }
        fixture.cache.put(CachedModel(1, date: date), for: named)
        fixture.cache.put(CachedModel([coin], date: date), for: list)
        try await service.post(
            "coins", body: coin,
            outdating: [
                .get("coins", parameters: ["page": 1], as: Coin.self), .key(named), .request(Coins.get(id: 7)),
                .request(DataRequest(.get, "coins"), as: [Coin].self),
            ], as: Coin.self)
        #expect(fixture.cache.count == 1)
        #expect(fixture.cache.stored(kept) != nil)
    }

    @Test("Writes of every kind delete the models that they make outdated", arguments: 0..<9)
    func outdatingMethods(kind: Int) async throws {
        let fixture = try FetchFixture()
        let service = fixture.service
        fixture.transport.on(nil, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        let (coin, outdated) = (Coin(name: "new"), [OutdatedModel.get("coins", as: Coin.self)])
        switch kind {
        case 0: try await service.post("coins", body: coin, outdating: outdated, as: Coin.self)
        case 1: try await service.post("coins", body: .parameters(["name": "new"]), outdating: outdated, as: Coin.self)
        case 2: try await service.put("coins", body: coin, outdating: outdated, as: Coin.self)
        case 3: try await service.put("coins", body: .parameters(["name": "new"]), outdating: outdated, as: Coin.self)
        case 4: try await service.patch("coins", body: coin, outdating: outdated, as: Coin.self)
        case 5: try await service.patch("coins", body: .parameters(["name": "new"]), outdating: outdated, as: Coin.self)
        case 6: try await service.delete("coins", outdating: outdated, as: Coin.self)
        case 7: try await service.delete("coins", outdating: outdated)
        default: try await service.fireAndForget(.post, "coins", outdating: outdated)
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.cache.calls == [.delete])
        #expect(fixture.cache.stored(fixture.key) == nil)
    }

    @Test("A failed write deletes nothing, but a write with an unreadable response deletes")
    func outdatingFailures() async throws {
        let fixture = try FetchFixture()
        fixture.preset("old")
        fixture.transport.on(.post, "/v1/coins").answer(.conflict).thenAnswer(text: "x")
        for isAccepted in [false, true] {
            await #expect(throws: RequestFailure.self) {
                try await fixture.service.post(
                    "coins", outdating: [.get("coins", as: Coin.self)], as: Coin.self)
            }
            #expect(fixture.cache.stored(fixture.key)?.name == (isAccepted ? nil : "old"))
        }
    }

    @Test("A failed deletion in the cache is counted and does not make the write fail")
    func failingCache() async throws {
        let fixture = try FetchFixture()
        fixture.cache.fail(.delete)
        fixture.transport.on(.delete, "/v1/coins").answer(.noContent)
        try await fixture.service.delete("coins", outdating: [.get("coins", as: Coin.self)])
        #expect(fixture.problems.current.count == 1)
    }

    @Test("Definitions are fetched and sent with the type of their response")
    func definitions() async throws {
        let fixture = try FetchFixture()
        let service = fixture.service
        fixture.transport.on(.get, "/v1/coins/7").answer(json: Coin(name: "new"))
        fixture.transport.on(.patch, "/v1/coins/7").answer { request in ScriptedAnswer(data: request.body) }
        #expect(
            await FetchTrace(service.fetch(Coins.get(id: 7), from: .cacheElseBackend)) == FetchTrace(["backend new"]))
        #expect(await FetchTrace(service.fetch(Coins.get(id: 7), from: .cache)) == FetchTrace(["cache new"]))
        let renamed = try await service.send(Coins.rename(id: 7, to: "Ada"), outdating: [.request(Coins.get(id: 7))])
        #expect(renamed.name == "Ada")
        #expect(await FetchTrace(service.fetch(Coins.get(id: 7), from: .cache)) == FetchTrace([]))
    }

    @Test("A request that cannot be built makes the sequence fail and sends nothing")
    func unbuildable() async throws {
        let fixture = try FetchFixture()
        let builder = RequestBuilder(.get, "coins").header("bad name", "x")
        #expect(await FetchTrace(fixture.service.fetch(builder)) == FetchTrace([], .invalidRequest))
        #expect(fixture.transport.requestCount == 0)
    }
}
