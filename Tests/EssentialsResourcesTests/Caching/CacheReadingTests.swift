import EssentialsRequests
import EssentialsResources
import EssentialsResourcesTestKit
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Entity caches: when they are read", .leavesNothing, .timeLimit(.minutes(5)))
struct CacheReadingTests {
    @Test("Looking a resource up and reading its state or content reads no cache; an observer and a load do")
    func begins() async throws {
        let cache = ScriptedEntityCache()
        let fixture = try ResourceFixture(cache: cache)
        fixture.transport.on(.get, "/v1/loaded").answer(json: Item(name: "new"))
        let stored = StoredEntity(
            body: Data(#"{"name":"old"}"#.utf8), mediaType: "application/json", date: fixture.clock.date)
        cache.preset(stored, for: EntityKey(url: "https://h/v1/looked", stage: "decoding"))
        let service = fixture.service
        let looked: Resource<Item> = service.resource("looked")
        for _ in 0..<3 {
            #expect(service.resource("looked", as: Item.self) == looked)
            #expect(service.resource(url: "https://h/v1/looked", as: Item.self).state.content == nil)
            #expect(looked.content == nil && !looked.isFresh && !looked.isLoading)
            #expect(looked.resource(as: String.self).content == nil)
            await Task.yield()
        }
        #expect(cache.calls.isEmpty)

        let observed: Resource<Item> = service.resource("observed")
        let observation = observed.observeSynchronously { _ in }
        await cache.called(1)
        #expect(try await service.resource("loaded", as: Item.self).load().name == "new")
        await service.close()
        let reads = cache.calls.filter { $0.operation == .read }.map { $0.key?.url }
        #expect(reads == ["https://h/v1/observed", "https://h/v1/loaded"])
        #expect(looked.content == nil)
        observation.cancel()
    }
}
