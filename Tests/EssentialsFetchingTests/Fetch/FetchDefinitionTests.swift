import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

private enum Coins: APIService {
    static var sharedProperties: RequestProperties { RequestHeader("X-Client", "shop") }

    static let getAll: APIRequest<[Coin]> = request(.get, "coins")
    static func get(id: Int) -> APIRequest<Coin> { request(.get, "coins/\(id)") }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "coins/\(id)") }
}

@Suite("Fetching: definitions keep their types")
struct FetchDefinitionTests {
    @Test("The write of a definition without a model returns nothing and deletes the models that it makes outdated")
    func withoutModel() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.delete, "/v1/coins/7").answer(.noContent)
        try await fixture.service.send(Coins.delete(id: 7), outdating: [.request(Coins.getAll)])
        #expect(fixture.transport.requests.map(\.method) == [.delete])
        #expect(fixture.cache.calls.contains(.delete))
    }

    @Test("The key of a definition has its type, and its model is stored under this key")
    func key() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins/7").answer(json: Coin(name: "a"))
        let key: ModelKey<Coin> = try #require(fixture.service.modelKey(for: Coins.get(id: 7)))
        _ = try await fixture.service.fetch(Coins.get(id: 7), from: .backend).last()
        let stored = try await fixture.service.cache.load(key)
        #expect(stored?.value == Coin(name: "a"))
    }

    @Test("A filter has the type of the definition's models, and follows their list")
    func filtered() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: [Coin(name: "ab"), Coin(name: "c")])
        _ = try await fixture.service.fetch(Coins.getAll, from: .backend).last()
        let found = try await fixture.service.models(matching: ModelFilter("b", in: \.name), of: Coins.getAll)
        #expect(found == [Coin(name: "ab")])
        let live = fixture.service.liveModels(matching: ModelFilter("b", in: \.name), of: Coins.getAll)
        for await coins in live {
            #expect(coins == [Coin(name: "ab")])
            break
        }
    }
}
