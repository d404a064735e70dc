import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Entity caches: faults", .leavesNothing, .timeLimit(.minutes(5)))
struct CacheFaultTests {
    @Test("A cache that always fails disturbs no load, and its faults are counted")
    func failing() async throws {
        let fixture = CacheFixture()
        fixture.cache.fails()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        #expect(try await item.loadIfNeeded().name == "Ada")
        await service.close()
        #expect(item.content?.name == "Ada")
        #expect(service.cacheProblems.count == 2)
        #expect(service.cacheProblems.last == "Fault()")
        #expect(fixture.cache.calls == ["read decoding", "store decoding"])
    }

    @Test("After three faults in a row a cache is left alone for 30 seconds")
    func rest() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        fixture.cache.fails()
        for _ in 0..<3 { #expect(await access.entity(for: CacheFixture.key) == nil) }
        #expect(access.problems.resting == 1)
        fixture.cache.fails(false)
        #expect(await access.entity(for: CacheFixture.key) == nil)
        #expect(fixture.cache.calls.count == 3)
        // The entity waits to be written, and is found meanwhile.
        access.add(.store(fixture.entity("new")), for: CacheFixture.key)
        access.work()
        #expect(await access.entity(for: CacheFixture.key)?.body == fixture.entity("new").body)
        await fixture.clock.waitForSleepers(count: 1)
        #expect(fixture.cache.calls.count == 3)
        fixture.clock.advance(by: .seconds(30))
        await fixture.cache.waitForCalls(4)
        await access.flush()
        #expect(fixture.cache.calls.last == "store decoding")
        #expect(access.problems.resting == 0)
        #expect(access.problems.count == 3)
    }

    @Test("A flush ends the pause of a cache, so closing a service does not wait for 30 seconds")
    func flushDuringRest() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        fixture.cache.fails()
        for _ in 0..<3 { _ = await access.entity(for: CacheFixture.key) }
        fixture.cache.fails(false)
        access.add(.store(fixture.entity("new")), for: CacheFixture.key)
        access.work()
        await access.flush()
        #expect(fixture.cache.entities.count == 1)
        #expect(access.isIdle)
    }

    @Test("Closing a service waits for a cache that does not respond only until the deadline")
    func closeDeadline() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let service = try fixture.service { $0.cacheDeadline = .seconds(5) }
        let item: Resource<Item> = service.resource("item")
        let latch = Latch()
        try await item.load()
        fixture.cache.stalls(latch)
        item.override(with: Item(name: "mine"))
        let closing = Task { await service.close() }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(5))
        await closing.value
        latch.open()
    }

    @Test("Removed entities are not found any more, even if the cache has not removed them yet or fails to")
    func purge() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        let latch = Latch()
        fixture.cache.stalls(latch)
        async let isRemoved = access.removeAll(in: .everything)
        await fixture.cache.waitForCalls(1)
        #expect(await access.entity(for: CacheFixture.key) == nil)
        latch.open()
        #expect(await isRemoved)
        #expect(fixture.cache.entities.isEmpty)

        fixture.cache.stalls(nil)
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        fixture.cache.fails()
        #expect(await !access.removeAll(in: .everything))
        #expect(await access.entity(for: CacheFixture.key) == nil)
    }

    @Test("Entities that are forgotten are not found from that moment on, and are removed in the background")
    func forgotten() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        let latch = Latch()
        fixture.cache.stalls(latch)
        access.remove([.everything]) { _ in }
        #expect(await access.entity(for: CacheFixture.key) == nil)
        latch.open()
        await access.flush()
        #expect(fixture.cache.calls == ["remove all"])
        #expect(fixture.cache.entities.isEmpty)
    }

    @Test("A flush without work does not end later pauses")
    func idleFlush() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        await access.flush()
        fixture.cache.fails()
        for _ in 0..<3 { _ = await access.entity(for: CacheFixture.key) }
        access.add(.store(fixture.entity("new")), for: CacheFixture.key)
        access.work()
        await fixture.clock.waitForSleepers(count: 1)
        #expect(fixture.cache.calls.count == 3)
        fixture.cache.fails(false)
        await access.flush()
        #expect(fixture.cache.entities.count == 1)
    }

    @Test("Beyond the maximum number of caches, those with nothing to write are forgotten, except the service's own")
    func manyCaches() async throws {
        let fixture = CacheFixture()
        let caching = EntityCaching(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        let own = caching.access(to: fixture.cache)
        // All are kept, so that no two have the same identity.
        let caches = (0..<600).map { _ in MemoryEntityCache() }
        for cache in caches { _ = caching.access(to: cache) }
        #expect(caching.accessCount <= EntityCaching.maximumAccesses)
        #expect(caching.access(to: fixture.cache) === own)
    }

    @Test("All caches of a service are purged, including its own before the first use and those of pipelines")
    func purgeAll() async throws {
        let fixture = CacheFixture()
        let other = CacheDouble()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        let service = try fixture.service()
        try service.configure("/item") {
            $0.usesServiceCache = false
            $0.pipeline.cache(in: other, at: .raw)
        }
        try await service.resource("item", as: Item.self).load()
        #expect(await service.caching.remove([EntityScope(origin: "https://h")]).isDone())
        #expect(fixture.cache.entities.isEmpty)
        #expect(other.entities.isEmpty)
    }

    @Test("The removal of one partition leaves the entities of others")
    func partitions() async throws {
        let fixture = CacheFixture()
        let access = CacheAccess(fixture.cache, fixture.clock.requestClock, Logger(label: "test"))
        var key = CacheFixture.key
        for name in ["ada", "bob"] {
            key.partition = EntityPartition(name)
            access.add(.store(fixture.entity(name)), for: key)
        }
        #expect(await access.removeAll(in: EntityScope(partition: "ada")))
        await access.flush()
        #expect(fixture.cache.entities.keys.map(\.partition) == ["bob"])
    }
}
