import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: confirmation by 304", .leavesNothing, .timeLimit(.minutes(5)))
struct ConfirmationTests {
    private func tag(_ tag: String) -> HTTPFields { [.eTag: "\"\(tag)\""] }

    /// A service whose resource has the tag "1", and then responds to the next loads with latches.
    private func fixture(_ answers: [(latch: Latch, answer: ScriptedAnswer)]) throws -> ResourceFixture {
        let fixture = try ResourceFixture()
        let rule = fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "one"), headerFields: tag("1"))
        for (latch, answer) in answers {
            rule.thenAnswer { _ in
                await latch.wait()
                return answer
            }
        }
        return fixture
    }

    @Test("A 304 for the tag of replaced content confirms nothing, and the load is repeated without a condition")
    func replaced() async throws {
        let (first, second) = (Latch(), Latch())
        let fixture = try fixture([
            (first, ScriptedAnswer(json: Item(name: "two"), headerFields: tag("2"))),
            (second, ScriptedAnswer(.notModified, headerFields: tag("1"))),
            (second, ScriptedAnswer(json: Item(name: "one again"), headerFields: tag("1"))),
        ])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let one = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 2)
        let two = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 3)
        first.open()
        #expect(try await one.value.name == "two")
        second.open()
        #expect(try await two.value.name == "one again")
        #expect(item.content?.name == "one again")
        #expect(item.state.entity?.entityTag == "\"1\"")
        #expect(fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\"", nil])
    }

    @Test("A repeated load keeps its place in the order, so a newer response takes precedence")
    func repeatedIsOlder() async throws {
        let (first, second, third) = (Latch(), Latch(), Latch())
        let fixture = try fixture([
            (first, ScriptedAnswer(.notModified)),
            (second, ScriptedAnswer(json: Item(name: "two"), headerFields: tag("2"))),
            (third, ScriptedAnswer(json: Item(name: "late"), headerFields: tag("1"))),
        ])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let one = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 2)
        let two = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 3)
        second.open()
        #expect(try await two.value.name == "two")
        first.open()
        _ = try await fixture.transport.request(number: 4)
        third.open()
        #expect(try await one.value.name == "late")
        #expect(item.content?.name == "two" && item.state.entity?.entityTag == "\"2\"")
    }

    @Test("A 304 to the repeated load, which has no condition, is a protocol violation")
    func twice() async throws {
        let (first, second) = (Latch(), Latch())
        let fixture = try fixture([
            (first, ScriptedAnswer(json: Item(name: "two"), headerFields: tag("2"))),
            (second, ScriptedAnswer(.notModified)), (second, ScriptedAnswer(.notModified)),
        ])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let one = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 2)
        let two = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 3)
        first.open()
        _ = try await one.value
        second.open()
        await expectFailure(.protocolViolation) { try await two.value }
        #expect(item.content?.name == "two")
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("A 304 does not confirm content that an override, an update or a write has set since", arguments: 0..<3)
    func changedMeanwhile(change: Int) async throws {
        let latch = Latch()
        let fixture = try fixture([
            (latch, ScriptedAnswer(.notModified)),
            (latch, ScriptedAnswer(json: Item(name: "server"), headerFields: tag("1"))),
        ])
        fixture.transport.on(.put, "/v1/item").answer(.noContent, headerFields: tag("9"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let load = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 2)
        switch change {
        case 0: item.override(with: Item(name: "mine"))
        case 1: item.update { $0.name = "mine" }
        default: try await item.put(Item(name: "mine"))
        }
        latch.open()
        // The caller receives the server's content, and the state keeps the later content.
        #expect(try await load.value.name == "server")
        #expect(item.content?.name == "mine")
    }

    @Test("A 304 with another strong tag than the content's confirms nothing, but a weaker spelling of the tag does")
    func otherTag() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "one"), headerFields: [.eTag: "W/\"1\""])
            .thenAnswer(.notModified, headerFields: tag("1"))
            .thenAnswer(.notModified, headerFields: tag("2"))
            .thenAnswer(json: Item(name: "two"), headerFields: tag("2"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(try await item.load().name == "one")
        #expect(fixture.transport.requestCount == 2)
        #expect(try await item.load().name == "two")
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("A 304 to a caller's own condition goes to the caller, and changes nothing")
    func ownCondition() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "one"), headerFields: tag("1"))
            .thenAnswer(.notModified, headerFields: [.eTag: "\"own\"", .contentLanguage: "de"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        item.invalidate()
        fixture.clock.advance(by: .seconds(40))
        let request = DataRequest(.get, "item", headerFields: [.ifNoneMatch: "\"own\""])
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(using: request) }
        #expect(failure?.reason == .status)
        #expect(failure?.status == .notModified)
        #expect(failure?.response?.head.headerFields[.contentLanguage] == "de")
        let state = item.state
        #expect(state.content == Item(name: "one") && state.entity?.headerFields[.contentLanguage] == nil)
        #expect(state.isInvalid && !state.isFresh && !state.isLoading)
        #expect(state.age == .seconds(40))
        #expect(state.failure == nil)
    }

    @Test("A tag by which a decorator replaces the content's tag is the caller's own condition")
    func decorated() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "one"), headerFields: tag("1"))
            .thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        try fixture.service.configure("/item") {
            $0.decorate { call, next in
                var request = call.request
                request.headerFields[.ifNoneMatch] = "\"own\""
                return try await next(request)
            }
        }
        fixture.clock.advance(by: .seconds(40))
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .status && failure?.status == .notModified)
        #expect(item.state.age == .seconds(40) && item.state.failure == nil)
    }

    @Test("A condition in the configuration takes precedence over that of the content")
    func configured() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "one"), headerFields: tag("1"))
            .thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        try fixture.service.configure("/item") { $0.headerFields[.ifNoneMatch] = "\"own\"" }
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .status && failure?.status == .notModified)
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == "\"own\"")
        #expect(item.state.failure == nil)
    }

    @Test("A request that is not a load gets the 304 to its own condition as a status")
    func besideLoads() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        let request = item.request(.get, headerFields: [.ifNoneMatch: "\"own\""], as: Item.self) {
            $0.expectedStatus = [200...200, 304...304]
        }
        let failure = await #expect(throws: RequestFailure.self) { try await request.start().content }
        #expect(failure?.reason == .status && failure?.status == .notModified)
    }

    @Test(
        "A body that the response cache confirms is not mistaken for later content",
        arguments: CacheUnderTest.Kind.allCases)
    func knownBody(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.load()
        let hold = Latch()
        cache.hold(hold)
        let load = Task { try await item.load() }
        await settled { cache.hasHeld }
        item.override(with: Item(name: "mine"))
        hold.open()
        #expect(try await load.value.name == "Ada")
        #expect(item.content?.name == "mine")
        await fixture.service.close()
    }

    @Test("A waiting confirmation does not confirm an entity that another program has stored meanwhile")
    func storedMeanwhile() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("one", age: .seconds(60), fields: tag("1")), for: CacheFixture.key)
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.notModified, headerFields: [.contentLanguage: "en"])
        }
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        let load = Task { try await item.loadIfNeeded() }
        _ = try await fixture.transport.request(number: 1)
        let other = fixture.entity("two", age: .seconds(50), fields: tag("2"))
        fixture.cache.set(other, for: CacheFixture.key)
        latch.open()
        #expect(try await load.value.name == "one")
        await service.close()
        #expect(fixture.cache.entities[CacheFixture.key] == other)
    }
}
