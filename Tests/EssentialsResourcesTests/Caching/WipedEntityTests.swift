import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Entity caches: wipes", .leavesNothing, .timeLimit(.minutes(5)))
struct WipedEntityTests {
    /// Ways to wipe a resource.
    enum Wipe: String, CaseIterable {
        case all, pattern, tags, resource
    }

    private func wipe(_ wipe: Wipe, _ service: HTTPResourceService) throws {
        switch wipe {
        case .all: try service.wipe(.all)
        case .pattern: try service.wipe("/it*")
        case .tags: service.wipe(tagged: ["items"])
        case .resource: service.resource("item", as: Item.self).wipe()
        }
    }

    @Test("Wiped content does not come back from the cache after the resource was dropped", arguments: Wipe.allCases)
    func dropped(kind: Wipe) async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "old")).thenAnswer(.internalServerError)
        let service = try fixture.service()
        try service.configure("/item") { $0.tags = ["items"] }
        try await service.resource("item", as: Item.self).load()
        await fixture.cache.waitForCalls(2)
        // The cache does not respond, so that nothing is removed from it yet.
        let latch = Latch()
        fixture.cache.stalls(latch)
        try wipe(kind, service)
        // The task of the load uses the resource until it has ended.
        await settled {
            service.dropUnused()
            return service.resourceCount == 0
        }
        await #expect(throws: RequestFailure.self) {
            try await service.resource("item", as: Item.self).loadIfNeeded()
        }
        #expect(service.resource("item", as: Item.self).content == nil)
        latch.open()
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
    }

    @Test("Entities of resources that the service does not know are wiped too", arguments: [Wipe.all, .pattern, .tags])
    func unknown(kind: Wipe) async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        let service = try fixture.service()
        try service.configure("/item") { $0.tags = ["items"] }
        try wipe(kind, service)
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
    }

    @Test("A pipeline's cache that is used for the first time does not contain entities that were wiped before")
    func firstUse() async throws {
        let fixture = CacheFixture()
        let other = CacheDouble()
        var key = CacheFixture.key
        key.stage = "raw"
        other.set(fixture.entity("old"), for: key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let service = try fixture.service()
        try service.configure("/item") { $0.pipeline.cache(in: other, at: .raw) }
        try service.wipe(.all)
        #expect(try await service.resource("item", as: Item.self).loadIfNeeded().name == "new")
        await service.close()
    }

    @Test("A wipe removes only the entities of the entered account", arguments: [true, false])
    func accounts(isPurging: Bool) async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "x"))
        let service = try fixture.service()
        for name in ["alice", "bob"] as [EntityPartition] {
            service.enter(name)
            try await service.resource("item", as: Item.self).load()
        }
        if isPurging {
            #expect(try await service.wipe(.all, purging: .caches))
        } else {
            try service.wipe(.all)
        }
        await service.close()
        #expect(fixture.cache.entities.keys.map(\.partition) == ["alice"])
    }

    @Test("Wipes that are merged because there are many still remove nothing of another account")
    func manyWipes() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "x"))
        let service = try fixture.service()
        for name in ["alice", "bob"] as [EntityPartition] {
            service.enter(name)
            try await service.resource("item", as: Item.self).load()
        }
        await fixture.cache.waitForCalls(4)
        let latch = Latch()
        fixture.cache.stalls(latch)
        for number in 0..<400 { try service.wipe(ResourcePattern("/other/\(number)")) }
        try service.wipe("/item")
        latch.open()
        await service.close()
        #expect(fixture.cache.entities.keys.map(\.partition) == ["alice"])
    }

    @Test("The response to a load that began before a wipe is neither shown nor stored", arguments: Wipe.allCases)
    func late(kind: Wipe) async throws {
        let (fixture, latch) = (CacheFixture(), Latch())
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "late"))
        }
        let service = try fixture.service()
        try service.configure("/item") { $0.tags = ["items"] }
        let item: Resource<Item> = service.resource("item")
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        try wipe(kind, service)
        latch.open()
        await expectFailure(.cancelled) { try await load.content }
        await service.close()
        #expect(item.content == nil)
        #expect(fixture.cache.entities.isEmpty)
    }

    @Test("An operation that began before the removal of a scope adds nothing to it, and a later operation does")
    func scopes() {
        var queue = WriteBehind()
        let (entity, key) = (
            StoredEntity(body: Data(), date: Date(timeIntervalSinceReferenceDate: 0)), CacheFixture.key
        )
        let begun = Epoch.now
        queue.removeAll(in: EntityScope(partition: "ada"))
        queue.add(.store(entity), for: key, since: begun)
        #expect(queue.knowledge(of: key) == .entity(entity))
        queue.removeAll(in: EntityScope(origin: "https://h"))
        queue.add(.store(entity), for: key, since: begun)
        #expect(queue.knowledge(of: key) == .none)
        queue.add(.store(entity), for: key, since: .now)
        #expect(queue.knowledge(of: key) == .entity(entity))
        // Beyond the removals that are remembered one by one, a removal counts for all keys.
        let early = Epoch.now
        for _ in 0...RemovedScopes.maximum { queue.removeAll(in: EntityScope(partition: "nobody")) }
        #expect(queue.wasRemoved(key, since: early))
        #expect(!queue.wasRemoved(key, since: .now))
    }
}
