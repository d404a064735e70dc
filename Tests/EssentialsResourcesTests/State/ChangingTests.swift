import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Resource: changes without a request", .leavesNothing)
struct ChangingTests {
    @Test("An override is fresh content, clears a failure, and keeps media type and fields")
    func override() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(json: Item(name: "a"), headerFields: [.contentLanguage: "en"]).thenAnswer(.internalServerError)
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "mine"))
        #expect(item.content?.name == "mine")
        #expect(item.state.entity?.mediaType == .octetStream)
        #expect(item.state.provenance == .local)
        #expect(item.isFresh)
        try await item.load()
        _ = try? await item.load()
        #expect(item.state.failure != nil)
        item.override(with: Item(name: "again"))
        #expect(item.state.failure == nil)
        #expect(item.state.entity?.mediaType == .json)
        #expect(item.state.entity?.headerFields[.contentLanguage] == "en")
    }

    @Test("Concurrent updates are all applied")
    func updates() async throws {
        let fixture = try ResourceFixture()
        let count: Resource<Int> = fixture.service.resource("count")
        #expect(!count.update { $0 += 1 })
        count.override(with: 0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { count.update { $0 += 1 } } }
            }
        }
        #expect(count.content == 800)
    }

    @Test("An update is applied once although loads begin and end meanwhile")
    func updateBesideLoads() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/count").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 7)
        }
        let count: Resource<Int> = fixture.service.resource("count")
        count.override(with: 1)
        let load = count.startLoad()
        #expect(count.update { $0 += 1 })
        latch.open()
        #expect(try await load.content == 7)
        #expect(count.content == 2)
    }

    @Test("A wipe removes content and failure, cancels loads, and ignores their responses")
    func wipe() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "b"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 2)
        let before = item.state.version
        item.wipe()
        latch.open()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        #expect(item.content == nil)
        #expect(item.state.entity == nil)
        #expect(!item.isFresh)
        #expect(item.state.version > before)
    }

    @Test("An invalidation sends nothing, even if the resource is observed", arguments: [false, true])
    func invalidate(isObserved: Bool) async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "a"))
        let observation = isObserved ? item.observeSynchronously { _ in } : nil
        item.invalidate()
        // A request that it had begun would have been sent by now.
        for _ in 0..<100 { await Task.yield() }
        #expect(!item.isLoading)
        #expect(item.isInvalid)
        #expect(!item.isFresh)
        #expect(item.content?.name == "a")
        #expect(fixture.transport.requestCount == 0)
        observation?.cancel()
    }

    @Test("Views of one resource share its state, and each has its own content and failure")
    func views() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        let number: Resource<Int> = item.resource()
        #expect(try await item.load().name == "a")
        await #expect(throws: RequestFailure.self) { try await number.loadIfNeeded() }
        #expect(number.state.failure?.reason == .decoding)
        #expect(item.state.failure == nil)
        #expect(number.state.version == item.state.version)
        // A view that is added later reads the body that was kept.
        let text: Resource<String> = item.resource()
        #expect(text.content?.contains("\"a\"") == true)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A body over 16 KiB is not kept, so a view that is added later loads it without a condition")
    func largeBody() async throws {
        let fixture = try ResourceFixture()
        let long = String(repeating: "x", count: 20_000)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: long), headerFields: [.eTag: "\"1\""])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let text: Resource<String> = item.resource()
        #expect(text.content == nil)
        #expect(try await text.loadIfNeeded().count > 20_000)
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == nil)
    }

    @Test("A snapshot never changes, and later ones have greater versions")
    func snapshots() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let first = item.state
        item.override(with: Item(name: "a"))
        let second = item.state
        item.override(with: Item(name: "b"))
        #expect(first.content == nil)
        #expect(second.content?.name == "a")
        #expect(first.version < second.version)
        #expect(second.version < item.state.version)
    }
}
