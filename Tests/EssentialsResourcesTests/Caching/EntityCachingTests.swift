import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Entity caches: reading", .leavesNothing, .timeLimit(.minutes(5)))
struct EntityCachingTests {
    static let hit = #"content entityCache(stage: "decoding")"#

    @Test("Fresh content of a cache is shown, and ends the load without a request")
    func freshHit() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("Ada", age: .seconds(10)), for: CacheFixture.key)
        let item: Resource<Item> = try fixture.service().resource("item")
        let load = Task { try await item.loadIfNeeded() }
        #expect(try await load.value.name == "Ada")
        #expect(fixture.transport.requestCount == 0)
        #expect(item.state.provenance == .entityCache(stage: "decoding"))
        #expect(!item.isLoading)
        #expect(item.state.entity?.mediaType == .json)
    }

    @Test("An observer receives fresh content of a cache, and no event of a request")
    func freshEvents() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        let item: Resource<Item> = try fixture.service().resource("item")
        let events = EventList<Item>()
        let observation = events.observe(item)
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(events.all == ["attached", Self.hit])
        #expect(item.startLoadIfNeeded() == nil)
        observation.cancel()
    }

    @Test("Stale content of a cache is shown before the request is sent, and the response replaces it")
    func staleHit() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old", age: .seconds(31), fields: [.eTag: "\"1\""]), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        let events = EventList<Item>()
        let observation = events.observe(item)
        #expect(try await item.loadIfNeeded().name == "new")
        #expect(events.all == ["attached", Self.hit, "requested", "content network"])
        // The validator of the stored entity makes the request conditional.
        #expect(fixture.transport.requests[0].headerFields[.ifNoneMatch] == "\"1\"")
        observation.cancel()
    }

    @Test("A load by hand shows content of a cache and contacts the server, even if the content is fresh")
    func loadByHand() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        let events = EventList<Item>()
        let observation = events.observe(item)
        #expect(try await item.load().name == "new")
        #expect(events.all == ["attached", Self.hit, "requested", "content network"])
        observation.cancel()
    }

    @Test("A hit does not make content younger: it keeps its age, and expires accordingly")
    func age() async throws {
        let fixture = CacheFixture()
        var entity = fixture.entity("Ada", age: .seconds(15))
        entity.age = .seconds(5)
        fixture.cache.set(entity, for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.age == .seconds(20))
        #expect(item.state.entity?.date == entity.date)
        fixture.clock.advance(by: .seconds(10))
        #expect(item.isFresh)
        fixture.clock.advance(by: .nanoseconds(1))
        #expect(try await item.loadIfNeeded().name == "new")
        #expect(fixture.cache.calls.filter { $0.hasPrefix("read") }.count == 1)
    }

    @Test("Content with a date in the future is stale, because the clock was set back")
    func clockWentBack() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old", age: .seconds(-1)), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        let events = EventList<Item>()
        let observation = events.observe(item)
        #expect(try await item.loadIfNeeded().name == "new")
        #expect(events.all == ["attached", Self.hit, "requested", "content network"])
        observation.cancel()
    }

    @Test("After 250 milliseconds a load does not wait for the cache any more, and its late entity is dropped")
    func patience() async throws {
        let fixture = CacheFixture()
        let latch = Latch()
        fixture.cache.stalls(latch)
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        let load = Task { try await item.loadIfNeeded() }
        await fixture.clock.waitForSleepers(count: 1)
        #expect(item.isLoading)
        fixture.clock.advance(by: .milliseconds(249))
        #expect(fixture.transport.requestCount == 0)
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try await load.value.name == "new")
        latch.open()
        await fixture.cache.waitForCalls(2)
        #expect(item.content?.name == "new")
        #expect(item.state.provenance == .network)
    }

    @Test("An entity that arrives during the request is shown until the response arrives")
    func lateButUseful() async throws {
        let fixture = CacheFixture()
        let (cache, server) = (Latch(), Latch())
        fixture.cache.stalls(cache)
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await server.wait()
            return ScriptedAnswer(json: Item(name: "new"))
        }
        let item: Resource<Item> = try fixture.service().resource("item")
        var states = item.states.makeAsyncIterator()
        _ = await states.next()
        let load = Task { try await item.loadIfNeeded() }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(250))
        _ = try await fixture.transport.request(number: 1)
        cache.open()
        while item.content == nil { _ = await states.next() }
        #expect(item.content?.name == "old")
        #expect(item.isLoading)
        server.open()
        #expect(try await load.value.name == "new")
        #expect(item.content?.name == "new")
    }

    @Test("An entity that arrives after an override or a wipe is dropped")
    func overtaken() async throws {
        for isWiped in [false, true] {
            let fixture = CacheFixture()
            let latch = Latch()
            fixture.cache.stalls(latch)
            fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
            let service = try fixture.service()
            let item: Resource<Item> = service.resource("item")
            let events = EventList<Item>()
            let observation = events.observe(item)
            await fixture.cache.waitForCalls(1)
            if isWiped { item.wipe() } else { item.override(with: Item(name: "mine")) }
            latch.open()
            await service.close()
            #expect(item.content?.name == (isWiped ? nil : "mine"))
            #expect(!events.all.contains(Self.hit))
            observation.cancel()
        }
    }

    @Test("An observer alone makes the cache be read, without a request")
    func observer() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old", age: .seconds(99)), for: CacheFixture.key)
        let item: Resource<Item> = try fixture.service().resource("item")
        for await state in item.states where state.content != nil { break }
        #expect(item.content?.name == "old")
        #expect(!item.isFresh)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("The cache is read once, and again only for the URL below another base")
    func epochs() async throws {
        let fixture = CacheFixture()
        let environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        let item: Resource<Item> = try fixture.service(environment: environment).resource("item")
        var key = CacheFixture.key
        key.url = "https://other/v1/item"
        fixture.transport.on(.get, "/v1/item").answer(.internalServerError)
        await #expect(throws: RequestFailure.self) { try await item.load() }
        await #expect(throws: RequestFailure.self) { try await item.load() }
        fixture.cache.set(fixture.entity("mine"), for: CacheFixture.key)
        item.wipe()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        func reads() -> Int { fixture.cache.calls.count { $0 == "read decoding" } }
        #expect(reads() == 1)
        fixture.cache.set(fixture.entity("other"), for: key)
        environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/v1/")))
        #expect(try await item.loadIfNeeded().name == "other")
        #expect(reads() == 2)
    }

    @Test("An invalid resource contacts the server despite fresh content in the cache")
    func invalid() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let item: Resource<Item> = try fixture.service().resource("item")
        item.invalidate()
        #expect(try await item.loadIfNeeded().name == "new")
    }

    @Test("Content that no view can read is removed from the cache, and the server is contacted")
    func unreadable() async throws {
        let fixture = CacheFixture()
        var entity = fixture.entity("old")
        entity.body = Data("[]".utf8)
        fixture.cache.set(entity, for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(.internalServerError)
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(item.state.failure?.reason == .status)
        await service.close()
        #expect(fixture.cache.calls == ["read decoding", "remove decoding"])
    }

    @Test("A thousand tasks that find fresh content in a cache cause one read and no request")
    func manyTasks() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("Ada"), for: CacheFixture.key)
        let item: Resource<Item> = try fixture.service().resource("item")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { try await item.loadIfNeeded().name } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names == ["Ada"])
        #expect(fixture.cache.calls == ["read decoding"])
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("Configuration keeps a resource out of the cache of the service")
    func excluded() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let service = try fixture.service()
        try service.configure("/item") { $0.usesServiceCache = false }
        let item: Resource<Item> = service.resource("item")
        #expect(try await item.loadIfNeeded().name == "new")
        await service.close()
        #expect(fixture.cache.calls.isEmpty)
    }

    @Test("A load that is cancelled while it waits for the cache ends at once, and sends nothing")
    func cancelled() async throws {
        let fixture = CacheFixture()
        let latch = Latch()
        fixture.cache.stalls(latch)
        let item: Resource<Item> = try fixture.service().resource("item")
        let load = Task { try await item.loadIfNeeded() }
        await fixture.clock.waitForSleepers(count: 1)
        load.cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.value }
        #expect(!item.isLoading)
        latch.open()
        #expect(fixture.transport.requestCount == 0)
    }
}
