import EssentialsHTTP
import EssentialsReachability
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Resource: joining loads, and stored entities", .leavesNothing, .timeLimit(.minutes(5)))
struct JoiningTests {
    @Test(
        "A loadIfNeeded does not join a load that accepts only a stored response",
        arguments: CacheUnderTest.Kind.allCases)
    func onlyIfStored(kind: CacheUnderTest.Kind) async throws {
        let (fixture, hold) = (try ResponseCacheFixture(kind), Latch())
        let (cache, service, item) = (fixture.cache, fixture.service, fixture.item)
        cache.delay(hold)
        let stored = Task { try await item.load(.onlyIfStored) }
        await settled { cache.requests.count == 1 }
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(cache.requests.last?.headerFields[.cacheControl] == nil)
        hold.open()
        _ = try? await stored.value
        await service.close()
    }

    @Test(
        "An event loads an observed resource even during a load that accepts only a stored response",
        arguments: CacheUnderTest.Kind.allCases)
    func observed(kind: CacheUnderTest.Kind) async throws {
        let (fixture, hold) = (try ResponseCacheFixture(kind), Latch())
        let (cache, service, item) = (fixture.cache, fixture.service, fixture.item)
        let observation = item.observeSynchronously { _ in }
        cache.delay(hold)
        let stored = Task { try await item.load(.onlyIfStored) }
        await settled { cache.requests.count == 1 }
        service.invalidate([item.core])
        await settled { item.content?.name == "Ada" }
        hold.open()
        _ = try? await stored.value
        observation.cancel()
        await service.close()
    }

    @Test("A load after a wipe does not share the response to an earlier request", arguments: [false, true])
    func wiped(isOne: Bool) async throws {
        let (transport, latch) = (ScriptedTransport(), Latch())
        transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "Ada"))
        }
        let environment = try ConstantEnvironment("https://h/v1/")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.joins = true
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        let services = try (0..<2).map { _ in try HTTPResourceService(requests: requests, environment: environment) }
        let items: [Resource<Item>] = services.map { $0.resource("item") }
        let loads = items.map { item in Task { try await item.loadIfNeeded() } }
        // Both wait for the same exchange.
        await settled { requests.settings.joins?.usage.waiters == 2 && transport.requestCount == 1 }
        if isOne { items[0].wipe() } else { try services[0].wipe(.all) }
        let after = Task { try await items[0].loadIfNeeded() }
        _ = try await transport.request(number: 2)
        latch.open()
        _ = try await (loads[1].value, after.value)
        await #expect(throws: RequestFailure.self) { try await loads[0].value }
        #expect(transport.requestCount == 2)
        for service in services { await service.close() }
    }

    @Test(
        "An older load that contacts the server is joined even if a newer one does not contact it",
        arguments: CacheUnderTest.Kind.allCases)
    func older(kind: CacheUnderTest.Kind) async throws {
        let (fixture, delay) = (try ResponseCacheFixture(kind), Latch())
        let (cache, service, item) = (fixture.cache, fixture.service, fixture.item)
        cache.delay(delay)
        let first = Task { try await item.load() }
        await settled { cache.requests.count == 1 }
        let hold = Latch()
        cache.delay(hold)
        let stored = Task { try await item.load(.onlyIfStored) }
        await settled { cache.requests.count == 2 }
        let needed = Task { try await item.loadIfNeeded() }
        await settled { item.core.reading { $0.machine.loads.first?.waiting == 2 } }
        delay.open()
        #expect(try await needed.value.name == "Ada")
        _ = try await first.value
        hold.open()
        _ = try? await stored.value
        #expect(cache.requests.count == 2)
        await service.close()
    }

    @Test("A load with a caller's own condition is not joined, because its 304 is only for that caller")
    func ownCondition() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.notModified)
        }.thenAnswer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        let own = Task {
            try await item.load(using: DataRequest(.get, "item", headerFields: [.ifNoneMatch: "\"own\""]))
        }
        _ = try await fixture.transport.request(number: 1)
        #expect(try await item.loadIfNeeded().name == "a")
        latch.open()
        _ = try? await own.value
        #expect(item.content?.name == "a" && item.state.failure == nil)
    }

    @Test("A load of stored content uses the entity of a cache, however old it is, and sends nothing")
    func entity() async throws {
        for age in [Duration.seconds(1), .seconds(1_000)] {
            let fixture = CacheFixture()
            fixture.cache.set(fixture.entity("Ada", age: age), for: CacheFixture.key)
            let item: Resource<Item> = try fixture.service().resource("item")
            let events = EventList<Item>()
            let observation = events.observe(item)
            await settled { item.content != nil }
            #expect(try await item.load(.onlyIfStored).name == "Ada")
            #expect(item.state.provenance == .entityCache(stage: "decoding"))
            #expect(item.state.failure == nil && !item.isLoading)
            #expect(item.isFresh == (age == .seconds(1)))
            #expect(fixture.transport.requestCount == 0)
            observation.cancel()
        }
    }

    @Test("A load of stored content that reads the cache first ends with its entity, without a request")
    func entityAtOnce() async throws {
        for age in [Duration.seconds(1), .seconds(1_000)] {
            let fixture = CacheFixture()
            fixture.cache.set(fixture.entity("Ada", age: age), for: CacheFixture.key)
            let item: Resource<Item> = try fixture.service().resource("item")
            #expect(try await item.load(.onlyIfStored).name == "Ada")
            #expect(item.state.failure == nil && !item.isLoading)
            #expect(fixture.transport.requestCount == 0)
        }
    }

    @Test("A load of stored content without an entity, or without content of its type, fails as notCached")
    func noEntity() async throws {
        let fixture = CacheFixture()
        let item: Resource<Item> = try fixture.service().resource("item")
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        item.override(with: Item(name: "mine"))
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        #expect(item.content?.name == "mine")
    }

    @Test("An entity that a load has stored in a cache satisfies a later load of stored content")
    func loadedBefore() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let item: Resource<Item> = try fixture.service().resource("item")
        try await item.load()
        item.invalidate()
        #expect(try await item.load(.onlyIfStored).name == "Ada")
        #expect(item.isInvalid && item.state.failure == nil && item.state.provenance == .network)
        #expect(fixture.transport.requestCount == 1)
    }
}
