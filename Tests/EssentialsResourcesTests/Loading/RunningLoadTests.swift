import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resource: the running load")
struct RunningLoadTests {
    @Test("Starting a load if needed returns the running one although the content is fresh")
    func freshContent() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "loaded"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "own"))
        #expect(item.startLoadIfNeeded() == nil)
        let load = item.startLoad()
        #expect(item.isFresh)
        let running = try #require(item.startLoadIfNeeded())
        #expect(running.phase == .running)
        latch.open()
        #expect(try await running.content.name == "loaded")
        #expect(try await load.content.name == "loaded")
        #expect(fixture.transport.requestCount == 1)
        #expect(item.startLoadIfNeeded() == nil)
    }

    @Test("A request with another method does not count as the running load")
    func otherMethod() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.post, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "made"))
        }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "loaded"))
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "own"))
        let request = item.request(.post, as: Item.self).start()
        _ = try await fixture.transport.request(number: 1)
        #expect(!item.isLoading)
        #expect(item.startLoadIfNeeded() == nil)
        item.invalidate()
        let load = try #require(item.startLoadIfNeeded())
        #expect(try await load.content.name == "loaded")
        #expect(fixture.transport.requests.map(\.method) == [.post, .get])
        #expect(!request.isCompleted)
        latch.open()
        #expect(try await request.content.name == "made")
    }

    @Test("A wipe cancels a load with a request of the caller's, whose response is ignored")
    func wipedOwnRequest() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.post, "/v1/search").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "found"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let load = Task { try await item.load(using: DataRequest(.post, "search")) }
        _ = try await fixture.transport.request(number: 1)
        #expect(item.isLoading)
        item.wipe()
        #expect(!item.isLoading)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.value }
        latch.open()
        #expect(item.content == nil)
        #expect(item.state.failure == nil)
    }
}
