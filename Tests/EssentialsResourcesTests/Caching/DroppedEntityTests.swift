import EssentialsHTTP
import EssentialsResources
import EssentialsTestKit
import Testing

@testable import EssentialsRequests

@Suite("Entity caches: resources that were dropped", .leavesNothing, .timeLimit(.minutes(5)))
struct DroppedEntityTests {
    @Test("A resource that was dropped begins with the content of its entity cache")
    func afterDrop() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("first"), for: CacheFixture.key)
        let service = try fixture.service()
        #expect(try await service.resource("item", as: Item.self).loadIfNeeded().name == "first")
        // The task of the load may still hold the resource for a moment.
        repeat {
            await Task.yield()
            service.dropUnused()
        } while service.resourceCount > 0
        fixture.cache.set(fixture.entity("second"), for: CacheFixture.key)
        let item: Resource<Item> = service.resource("item")
        #expect(item.content == nil)
        #expect(try await item.loadIfNeeded().name == "second")
        #expect(item.state.provenance == .entityCache(stage: "decoding"))
        #expect(fixture.transport.requestCount == 0)
        #expect(fixture.cache.calls == ["read decoding", "read decoding"])
    }
}
