import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsResourcesTestKit
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Scripted entity cache", .timeLimit(.minutes(5)))
struct ScriptedEntityCacheTests {
    private struct Cart: Codable, Sendable, Equatable {
        var items: Int
    }

    private struct DiskFull: Error {}

    private let cache = ScriptedEntityCache()
    private let key = EntityKey(url: "https://api.example.com/cart", stage: "decoding")
    private let other = EntityKey(url: "https://api.example.com/other", stage: "decoding", partition: "account-7")

    private func entity(_ text: String) -> StoredEntity {
        StoredEntity(
            body: Data(text.utf8), mediaType: "application/json", date: Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test("Entities are kept until they are removed, and all calls are listed")
    func keeps() async throws {
        try await cache.store(entity("1"), for: key)
        try await cache.store(entity("2"), for: other)
        #expect(try await cache.entity(for: key) == entity("1"))
        let later = Date(timeIntervalSinceReferenceDate: 60)
        try await cache.revalidated(key, by: EntityConfirmation(date: later))
        #expect(cache.entities[key]?.date == later)
        try await cache.removeAll(in: EntityScope(partition: "account-7"))
        #expect(Array(cache.entities.keys) == [key])
        try await cache.remove(key)
        #expect(cache.entities.isEmpty)
        #expect(
            cache.calls == [
                .init(.store, key), .init(.store, other), .init(.read, key), .init(.revalidate, key),
                .init(.removeAll), .init(.remove, key),
            ])
    }

    @Test("Operations fail with the given error until they succeed again, and a failed one changes nothing")
    func fails() async throws {
        cache.preset(entity("1"), for: key)
        cache.fail(with: DiskFull(), for: [.store, .remove])
        await #expect(throws: DiskFull.self) { try await cache.store(entity("2"), for: key) }
        await #expect(throws: DiskFull.self) { try await cache.remove(key) }
        #expect(try await cache.entity(for: key) == entity("1"))
        cache.fail(with: DiskFull())
        await #expect(throws: DiskFull.self) { _ = try await cache.entity(for: key) }
        await #expect(throws: DiskFull.self) { try await cache.removeAll(in: .everything) }
        cache.succeed()
        try await cache.store(entity("2"), for: key)
        #expect(cache.entities == [key: entity("2")])
    }

    @Test("Operations stall until they are released, and fail then if an error is set")
    func stalls() async throws {
        cache.stall([.store])
        #expect(try await cache.entity(for: key) == nil)
        let stored = Task { try await cache.store(entity("1"), for: key) }
        while cache.stalledCount == 0 { await Task.yield() }
        #expect(cache.entities.isEmpty)
        cache.release([.read])
        #expect(cache.stalledCount == 1)
        cache.release()
        try await stored.value
        #expect(cache.entities == [key: entity("1")])

        cache.stall()
        let removed = Task { try await cache.remove(key) }
        await cache.called(3)
        cache.fail(with: DiskFull())
        cache.release()
        await #expect(throws: DiskFull.self) { try await removed.value }
        #expect(cache.entities.count == 1)
    }

    @Test("A service finds what the cache keeps, and its loads notice no fault of the cache")
    func service() async throws {
        let first = try ScriptedResources(cache: cache)
        first.transport.on(.get, "/cart").answer(json: Cart(items: 1))
        #expect(try await first.service.resource("cart", as: Cart.self).load() == Cart(items: 1))
        await first.service.close()
        #expect(cache.entities.keys.map(\.url) == ["https://api.example.com/cart"])

        let second = try ScriptedResources(clock: first.clock, cache: cache)
        #expect(try await second.service.resource("cart", as: Cart.self).loadIfNeeded() == Cart(items: 1))
        #expect(second.transport.requestCount == 0)

        cache.fail(with: DiskFull())
        let third = try ScriptedResources(clock: first.clock, cache: cache)
        third.transport.on(.get, "/cart").answer(json: Cart(items: 3))
        #expect(try await third.service.resource("cart", as: Cart.self).loadIfNeeded() == Cart(items: 3))
        #expect(third.service.cacheProblems.last == "DiskFull()")
        await third.service.close()
    }

    @Test("A load waits for a cache that stalls no longer than its patience")
    func patience() async throws {
        let resources = try ScriptedResources(cache: cache)
        resources.transport.on(.get, "/cart").answer(json: Cart(items: 1))
        cache.stall([.read])
        let load = resources.service.resource("cart", as: Cart.self).startLoad()
        await cache.called()
        await resources.clock.waitForSleepers(count: 1)
        #expect(resources.transport.requestCount == 0)
        resources.clock.advance(by: .milliseconds(250))
        #expect(try await load.content == Cart(items: 1))
        cache.release()
    }
}
