import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: over a response cache", .leavesNothing, .timeLimit(.minutes(5)))
struct ResponseCachingTests {
    private static let kinds = CacheUnderTest.Kind.allCases

    // MARK: Conditions and bodies

    @Test(
        "The cache validates, so the resource sends no condition, and the directive names the accepted responses",
        arguments: kinds)
    func noCondition(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.loadIfNeeded()
        try await item.load()
        try await item.load(.onlyIfStored)
        item.invalidate()
        try await item.loadIfNeeded()
        #expect(cache.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, nil, nil, nil])
        #expect(
            cache.requests.map { $0.headerFields[.cacheControl] } == [nil, "no-cache", "only-if-cached", "no-cache"])
        #expect(cache.fetches == 3)
    }

    @Test(
        "A body that the resource already has does not run the pipeline, whether it was validated or stored",
        arguments: kinds)
    func knownBody(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, clock, item) = (fixture.cache, fixture.clock, fixture.item)
        try await item.load()
        #expect(fixture.pipelineRuns == 1)
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        #expect(try await item.load().name == "Ada")
        #expect(await changes.next()?.event == .requested)
        #expect(await changes.next()?.event == .notModified)
        #expect(item.state.provenance == .network)
        cache.use(age: .seconds(12))
        clock.advance(by: .seconds(31))
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.provenance == .httpCache(age: .seconds(12), isStale: false))
        #expect(item.state.age == .seconds(12) && item.state.freshFor == .seconds(18))
        #expect(fixture.pipelineRuns == 1)
        cache.change("Grace")
        #expect(try await item.load().name == "Grace")
        #expect(fixture.pipelineRuns == 2)
    }

    @Test("After an override, a wipe or a new view, the same body is read again", arguments: kinds)
    func unknownBody(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let item = fixture.item
        try await item.load()
        item.override(with: Item(name: "mine"))
        #expect(try await item.load().name == "Ada")
        #expect(fixture.pipelineRuns == 2)
        item.wipe()
        #expect(try await item.load().name == "Ada")
        #expect(fixture.pipelineRuns == 3)
        try await item.load(using: DataRequest(.get, "other"))
        #expect(fixture.pipelineRuns == 4)
        #expect(try await item.load().name == "Ada")
        #expect(fixture.pipelineRuns == 5)
        #expect(try await item.load().name == "Ada")
        #expect(fixture.pipelineRuns == 5)
    }

    @Test(
        "A caller's own condition reaches the cache, and its 304 goes to the caller and changes nothing",
        arguments: kinds)
    func ownCondition(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.load()
        cache.use(age: .seconds(4))
        var request = DataRequest(.get, "item")
        request.headerFields[.ifNoneMatch] = item.state.entity?.entityTag
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(using: request) }
        #expect(failure?.reason == .status && failure?.status == .notModified)
        #expect(cache.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(cache.fetches == 1 && fixture.pipelineRuns == 1)
        #expect(item.content?.name == "Ada" && item.state.age == .zero && item.state.failure == nil)
    }

    // MARK: Only stored responses

    @Test(
        "A load that accepts only stored responses fails as notCached if there is none, without contacting the server",
        arguments: [(.double, false), (.double, true), (.cache, false)] as [(CacheUnderTest.Kind, Bool)])
    func notCached(kind: CacheUnderTest.Kind, asStatus: Bool) async throws {
        // The cache itself fails. Only other caches on the way respond with the status 504.
        let fixture = try ResponseCacheFixture(kind, missesWithStatus: asStatus)
        let (cache, item) = (fixture.cache, fixture.item)
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(.onlyIfStored) }
        #expect(failure?.reason == .notCached)
        #expect(failure?.remedy?.isEmpty == false)
        #expect(cache.fetches == 0 && cache.requests.count == 1)
        #expect(await changes.next()?.event == .requested)
        guard case .failed(let shown) = await changes.next()?.event else { throw Missing() }
        #expect(shown.reason == .notCached)
        #expect(item.content == nil && item.state.failure?.reason == .notCached && !item.isFresh)
        // The server was not contacted, so the next load does not wait for the retry time.
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.failure == nil)
        cache.use(age: .seconds(3))
        #expect(try await item.load(.onlyIfStored).name == "Ada")
        #expect(item.state.provenance == .httpCache(age: .seconds(3), isStale: false))
        #expect(cache.fetches == 1)
    }

    @Test("Content, freshness and an invalidation stay when no stored response is found", arguments: kinds)
    func missKeepsState(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, clock, item) = (fixture.cache, fixture.clock, fixture.item)
        try await item.load()
        await cache.clear()
        clock.advance(by: .seconds(10))
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        #expect(item.content?.name == "Ada" && item.state.freshFor == .seconds(20))
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(cache.fetches == 1)
        item.invalidate()
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        #expect(item.isInvalid && !item.isFresh)
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(cache.requests.last?.headerFields[.cacheControl] == "no-cache")
        #expect(!item.isInvalid && cache.fetches == 2)
    }

    @Test(
        "The response to an older load counts although no stored response was found for a later one",
        arguments: kinds)
    func missOvertakesNothing(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        let hold = Latch()
        cache.delay(hold)
        async let older = item.load()
        while cache.requests.isEmpty { await Task.yield() }
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        #expect(item.state.failure?.reason == .notCached)
        hold.open()
        #expect(try await older.name == "Ada")
        #expect(item.content?.name == "Ada" && item.state.failure == nil)
    }

    private struct Missing: Error {}

    // There is no cache here, and no double of one.
    @Test("Without a response cache, a load of stored responses fails as notCached and sends nothing")
    func noCache() async throws {
        let other = ScriptedTransport()
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = ["cdn.example.com"]
        }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"), headerFields: [.eTag: "\"1\""])
        let item: Resource<Item> = fixture.service.resource("item")
        let foreign: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/item")
        for resource in [item, foreign] {
            let failure = await #expect(throws: RequestFailure.self) { try await resource.load(.onlyIfStored) }
            #expect(failure?.reason == .notCached)
            #expect(failure?.transmission == .unsent)
            #expect(failure?.remedy?.contains(".onlyIfStored") == true)
            #expect(resource.state.failure?.reason == .notCached)
        }
        #expect(fixture.transport.requestCount == 0 && other.requestCount == 0)
        #expect(try await item.load().name == "Ada")
        // A condition makes no difference.
        await #expect(throws: RequestFailure.self) { try await item.load(.onlyIfStored) }
        #expect(fixture.transport.requestCount == 1)
        #expect(item.content?.name == "Ada" && item.isFresh)
    }

    // MARK: Order

    @Test(
        "A stored response that is older than the content changes nothing, even if its load began later",
        arguments: kinds)
    func olderStored(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.load()
        let (first, second) = (Latch(), Latch())
        cache.delay(first)
        async let newer = item.load()
        while cache.requests.count < 2 { await Task.yield() }
        // The second load finds the old response before the cache sends the request of the first one.
        cache.hold(second)
        async let older = item.load(.onlyIfStored)
        while cache.requests.count < 3 { await Task.yield() }
        while !cache.hasHeld { await Task.yield() }
        cache.change("Grace")
        first.open()
        #expect(try await newer.name == "Grace")
        let version = item.state.version
        second.open()
        _ = try await older
        #expect(item.content?.name == "Grace" && item.state.provenance == .network)
        // The load has ended, and nothing else has changed.
        #expect(item.state.version == version + 1)
    }

    // The machine gets its numbers from the test, whatever the cache is.
    @Test("The numbers of the cache decide which of two responses counts, unless the loads decide it")
    func numbers() {
        var machine = ResourceMachine()
        let (one, two, three) = (
            machine.beginLoad(waiting: 1, isStarted: false), machine.beginLoad(waiting: 1, isStarted: false),
            machine.beginLoad(waiting: 1, isStarted: false)
        )
        #expect(machine.end(one, response: 7) == .commits)
        #expect(machine.end(two, response: 6) == .superseded)
        #expect(machine.committed == one && machine.response == 7)
        // The same stored response may be used again.
        #expect(machine.end(three, response: 7) == .commits)
        #expect(machine.update(since: three, response: 7) == .superseded)
        #expect(machine.update(since: one, response: 8) == .superseded)
        #expect(machine.update(since: three, response: 8) == .commits)
        machine.invalidate()
        #expect(machine.update(since: three, response: 9) == .commits && machine.isInvalid)
        machine.override()
        #expect(machine.update(since: three, response: 10) == .superseded)
        _ = machine.wipe()
        #expect(machine.response == 0)
    }

    // MARK: Updates

    @Test(
        "The response that replaces a stale one in the background arrives as new content from the network",
        arguments: kinds)
    func update(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        var changes = try await fixture.showStale()
        cache.change("Grace")
        cache.update()
        let change = try #require(await changes.next())
        #expect(change.event == .newContent(.network))
        #expect(change.state.content?.name == "Grace" && change.state.provenance == .network)
        #expect(item.state.freshFor == .seconds(30) && !item.isLoading)
        #expect(cache.requests.count == 2 && fixture.pipelineRuns == 2)
        await fixture.noFollowers()
    }

    @Test(
        "A stale response that the server confirms in the background counts as from the network, and is not read again",
        arguments: kinds)
    func confirmation(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        var changes = try await fixture.showStale()
        cache.update()
        let change = try #require(await changes.next())
        #expect(change.event == .newContent(.network))
        #expect(change.state.content?.name == "Ada" && change.state.provenance == .network)
        #expect(item.state.freshFor == .seconds(30) && fixture.pipelineRuns == 1)
    }

    @Test("An update that arrives before the stale response is shown is not missed", arguments: kinds)
    func earlyUpdate(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, clock, item) = (fixture.cache, fixture.clock, fixture.item)
        try await item.load()
        cache.use(age: .seconds(90))
        cache.change("Grace")
        cache.updateWhileServing()
        clock.advance(by: .seconds(31))
        #expect(try await item.loadIfNeeded().name == "Ada")
        for await state in item.states where state.provenance == .network { break }
        #expect(item.content?.name == "Grace" && item.isFresh)
    }

    @Test("An update changes nothing after an override, a wipe or a newer load", arguments: kinds, [0, 1, 2])
    func overtaken(kind: CacheUnderTest.Kind, by change: Int) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        _ = try await fixture.showStale()
        switch change {
        case 0: item.override(with: Item(name: "mine"))
        case 1: item.wipe()
        default:
            cache.change("Edsger")
            try await item.load()
        }
        let version = item.state.version
        cache.change("Grace")
        cache.update()
        await fixture.noFollowers()
        #expect(item.state.version == version)
        #expect(item.content?.name == ["mine", nil, "Edsger"][change])
    }

    @Test("An update after an invalidation is shown, and the resource stays invalid", arguments: kinds)
    func invalid(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        var changes = try await fixture.showStale()
        item.invalidate()
        #expect(await changes.next()?.event == .invalidated)
        cache.change("Grace")
        cache.update()
        #expect(await changes.next()?.event == .newContent(.network))
        #expect(item.content?.name == "Grace" && item.state.isInvalid && !item.isFresh)
    }

    @Test(
        "An update without a success status changes nothing, and is not waited for any longer",
        arguments: kinds, [HTTPResponse.Status.internalServerError, .notFound])
    func failed(kind: CacheUnderTest.Kind, status: HTTPResponse.Status) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        _ = try await fixture.showStale()
        let version = item.state.version
        cache.answer(status)
        cache.update()
        await fixture.noFollowers()
        #expect(item.state.version == version && item.content?.name == "Ada" && item.state.failure == nil)
    }

    @Test("Waiting for an update ends after 30 seconds, and with the service", arguments: kinds, [true, false])
    func end(kind: CacheUnderTest.Kind, byTime: Bool) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (clock, service) = (fixture.clock, fixture.service)
        _ = try await fixture.showStale()
        if byTime {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(30))
        } else {
            await service.close()
        }
        await fixture.noFollowers()
    }

    // MARK: Freshness

    @Test("The lifetime is that of the server, and the age is that of the cache", arguments: kinds)
    func serverLifetime(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, clock, item) = (fixture.cache, fixture.clock, fixture.item)
        try fixture.service.configure("/item") { $0.expiration = .byServer(else: .seconds(5)) }
        cache.send([.cacheControl: "max-age=60, stale-while-revalidate=600", .age: "1"])
        try await item.load()
        #expect(item.state.freshFor == .seconds(59))
        cache.use(age: .seconds(20))
        clock.advance(by: .seconds(60))
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(40))
        cache.use(age: .seconds(70))
        clock.advance(by: .seconds(41))
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(1))
        // The service waits for the response that replaces the stale one.
        await fixture.service.close()
    }
}
