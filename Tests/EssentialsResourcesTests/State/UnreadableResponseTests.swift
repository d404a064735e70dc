import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: unreadable responses", .leavesNothing, .timeLimit(.minutes(5)))
struct UnreadableResponseTests {
    /// A success that is not the content: the page of a captive portal, an error in a document, an empty body, an
    /// unknown type, and text in an unknown charset.
    enum Bad: CaseIterable, Sendable {
        case portal, document, nothing, noContent, unknownType, cutOff

        var answer: ScriptedAnswer {
            switch self {
            case .portal:
                ScriptedAnswer(
                    data: Data("<html>Log in</html>".utf8), headerFields: [.contentType: "text/html", .eTag: "\"p\""])
            case .document: ScriptedAnswer(json: ["error": "busy"])
            case .nothing: ScriptedAnswer(.ok)
            case .noContent: ScriptedAnswer(.noContent)
            case .unknownType:
                ScriptedAnswer(data: Data([1, 2]), headerFields: [.contentType: "application/x-unknown"])
            case .cutOff:
                ScriptedAnswer(data: Data(#"{"name":"#.utf8), headerFields: [.contentType: "application/json"])
            }
        }

        var reason: RequestFailure.Reason { self == .nothing || self == .noContent ? .emptyBody : .decoding }
    }

    /// A resource with content that was loaded with the entity tag "1".
    private func loaded(_ fixture: ResourceFixture, then answers: ScriptedAnswer...) async throws -> Resource<Item> {
        let rule = fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
        for answer in answers { rule.thenAnswer(answer) }
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        return item
    }

    @Test(
        "A success that no view of a model can read is a failed load, and content and entity stay",
        arguments: Bad.allCases)
    func keepsContent(bad: Bad) async throws {
        let fixture = try ResourceFixture()
        let item = try await loaded(fixture, then: bad.answer)
        let text = item.text
        #expect(text.content == #"{"name":"a"}"#)
        var changes = item.changes().makeAsyncIterator()
        _ = await changes.next()
        fixture.clock.advance(by: .seconds(31))
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == bad.reason)
        #expect(failure?.status?.kind == .successful)
        #expect(item.content == Item(name: "a"))
        #expect(text.content == #"{"name":"a"}"#)
        #expect(item.state.entity?.entityTag == "\"1\"")
        #expect(item.state.provenance == .network)
        #expect(item.state.age == .seconds(31))
        #expect(item.state.failure?.reason == bad.reason)
        #expect(await changes.next()?.event == .requested)
        guard case .failed(let told)? = await changes.next()?.event else {
            Issue.record("The observers hear of no failure.")
            return
        }
        #expect(told.reason == bad.reason)
        // Freshness is the same as after any failed load.
        #expect(item.state.freshFor == .seconds(1))
        #expect(try await item.loadIfNeeded() == Item(name: "a"))
        #expect(fixture.transport.requestCount == 2)
        fixture.clock.advance(by: .seconds(2))
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    }

    @Test("The Retry-After of a success that cannot be read counts like that of a failure")
    func retryAfter() async throws {
        let fixture = try ResourceFixture()
        let item = try await loaded(
            fixture, then: ScriptedAnswer(text: "Wait a moment", headerFields: [.retryAfter: "20"]))
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(item.state.freshFor == .seconds(20))
    }

    @Test("The first load of a page that only bytes and text can read leaves no content")
    func firstLoad() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(Bad.portal.answer).thenAnswer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        let (text, bytes) = (item.text, item.resource(as: Data.self))
        #expect(item.content == nil && text.content == nil && bytes.content == nil)
        // A view of text can read the page, but still gets the failure of the load.
        await #expect(throws: RequestFailure.self) { try await text.load() }
        #expect(item.content == nil && text.content == nil && bytes.content == nil)
        #expect(item.state.entity == nil)
        #expect(try await item.load() == Item(name: "a"))
        #expect(text.content == #"{"name":"a"}"#)
    }

    @Test("If one view of a model reads the response and another one cannot, only the other one has a failure")
    func failingView() async throws {
        let fixture = try ResourceFixture()
        let item = try await loaded(fixture, then: ScriptedAnswer(json: ["items": ["x"]]))
        let cart = item.resource(as: Cart.self)
        #expect(cart.content == nil)
        #expect(try await cart.load() == Cart(items: ["x"]))
        #expect(item.content == nil)
        #expect(item.state.failure?.reason == .decoding)
        #expect(cart.state.failure == nil)
        #expect(cart.isFresh)
    }

    @Test("Without a view of a model the other views decide, and text in an unknown charset does not replace text")
    func rawViews() async throws {
        let fixture = try ResourceFixture()
        let nonsense: HTTPFields = [.contentType: "text/plain; charset=nonsense"]
        fixture.transport.on(.get, "/v1/motto").answer(text: "a")
            .thenAnswer(data: Data([0xff]), headerFields: nonsense)
        let motto = fixture.service.resource("motto", as: String.self)
        try await motto.load()
        await expectFailure(.decoding) { try await motto.load() }
        #expect(motto.content == "a")
        let bytes = motto.resource(as: Data.self)
        #expect(bytes.content == Data("a".utf8))
        #expect(try await bytes.load() == Data([0xff]))
        #expect(motto.content == nil && motto.state.failure?.reason == .decoding)
    }

    @Test("A view that could not read the content does not decide about the next response")
    func strangeView() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/motto").answer(text: "a").thenAnswer(text: "b")
        let motto = fixture.service.resource("motto", as: String.self)
        try await motto.load()
        #expect(motto.resource(as: Item.self).state.failure?.reason == .decoding)
        #expect(try await motto.load() == "b")
        #expect(motto.content == "b" && motto.state.failure == nil)
    }

    @Test("An empty response becomes the nil of an optional model, or the result of a transformer")
    func readableNothing() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer(.noContent)
        fixture.transport.on(.get, "/v1/made").answer(json: Item(name: "a")).thenAnswer(.noContent)
        let item = fixture.service.resource("item", as: Item?.self)
        try await item.load()
        #expect(try await item.load() == nil)
        #expect(item.content == .some(nil))
        try fixture.service.configure("/made") {
            $0.pipeline.transform(at: .model) { (data: Data) in
                try data.isEmpty ? Item(name: "none") : JSONDecoder().decode(Item.self, from: data)
            }
        }
        let made = fixture.service.resource("made", as: Item.self)
        try await made.load()
        #expect(try await made.load() == Item(name: "none"))
    }

    @Test(
        "A response that cannot be read neither replaces nor removes the entity in the cache", arguments: Bad.allCases)
    func cachedEntity(bad: Bad) async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old", age: .seconds(60), fields: [.eTag: "\"1\""]), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(bad.answer)
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        let text = item.text
        #expect(text.content == nil)
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(item.content == Item(name: "old"))
        #expect(item.state.provenance == .entityCache(stage: "decoding"))
        await #expect(throws: RequestFailure.self) { try await item.load(using: DataRequest(.get, "item")) }
        await service.close()
        #expect(fixture.cache.calls == ["read decoding"])
        #expect(fixture.cache.entities[CacheFixture.key]?.body == fixture.entity("old").body)
    }

    @Test("A cached entity that only text can read is not shown if there is a view of a model, and stays in the cache")
    func unfitEntity() async throws {
        let fixture = CacheFixture()
        var entity = fixture.entity("old")
        entity.body = Data("[]".utf8)
        fixture.cache.set(entity, for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(.internalServerError)
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        let text = item.text
        #expect(text.content == nil)
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(item.state.failure?.reason == .status)
        #expect(text.content == nil)
        await service.close()
        #expect(fixture.cache.calls == ["read decoding"])
    }

    @Test("An unreadable response that was superseded leaves the newer content without a failure")
    func superseded() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return Bad.portal.answer
        }.thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        let older = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 1)
        try await item.load()
        latch.open()
        await #expect(throws: RequestFailure.self) { try await older.value }
        #expect(item.content == Item(name: "b"))
        #expect(item.state.failure == nil && item.isFresh)
    }

    @Test("Regular loads pause longer after a success that cannot be read")
    func polled() async throws {
        let fixture = try ResourceFixture()
        let item = try await loaded(fixture, then: Bad.portal.answer)
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(5))
        _ = try await fixture.transport.request(number: 2)
        await settled { !item.isLoading }
        await fixture.clock.waitForSleepers(count: 1)
        #expect(fixture.clock.nextDeadline.map { fixture.clock.now.duration(to: $0) } == .seconds(10))
        #expect(item.content == Item(name: "a"))
        observation.cancel()
    }

    @Test(
        "An unreadable response in the background does not replace a stale one",
        arguments: CacheUnderTest.Kind.allCases)
    func background(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        _ = try await fixture.showStale()
        // The server puts the name into a document, which this name makes invalid.
        fixture.cache.change("\"")
        fixture.cache.update()
        await fixture.noFollowers()
        #expect(fixture.item.content == Item(name: "Ada"))
        #expect(fixture.item.state.failure == nil)
        await fixture.service.close()
    }
}
