import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Glibc
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: the running load", .leavesNothing)
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

    /// A load that was started by hand, and whose response arrives when the latch is opened.
    private func startedLoad(
        _ fixture: ResourceFixture, _ latch: Latch
    ) async throws -> (item: Resource<Item>, load: ResourceRequest<Item>) {
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "loaded"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        return (item, load)
    }

    /// Waits until so many tasks wait for the load.
    private func joined(_ item: Resource<Item>, _ count: Int) async {
        while item.core.reading({ $0.machine.loads.first?.waiting }) != count { await Task.yield() }
    }

    @Test("Cancelling a request does not end the load for the tasks that wait for it")
    func cancelledBesideTask() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await startedLoad(fixture, latch)
        let task = Task { try await item.loadIfNeeded() }
        await joined(item, 1)
        load.cancel()
        #expect(load.isCompleted)
        #expect(item.isLoading)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        latch.open()
        #expect(try await task.value.name == "loaded")
        #expect(item.content?.name == "loaded")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Of several requests that follow a load, the last cancelled one ends it, even for observers")
    func lastCancelled() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await startedLoad(fixture, latch)
        let second = try #require(item.startLoadIfNeeded())
        item.override(with: Item(name: "own"))
        // The content is fresh now, but the running load is still returned.
        let third = try #require(item.startLoadIfNeeded())
        let log = EventLog()
        let observation = item.observeSynchronously { log.add($0.event, $0.state.version) }
        let task = Task { try? await item.load() }
        _ = try await fixture.transport.request(number: 2)
        for request in [load, third, second] {
            #expect(!request.isCompleted)
            request.cancel()
            request.cancel()
        }
        #expect(item.state.loads == 1)
        #expect(log.events == [.attached, .requested, .cancelled])
        task.cancel()
        _ = await task.value
        observation.cancel()
        #expect(!item.isLoading)
        #expect(item.content?.name == "own")
        latch.open()
    }

    @Test("Hooks of a load that ends during a delivery on another thread come after the observers")
    func hooksAfterDelivery() async throws {
        let (fixture, latch) = (try ResourceFixture(), Latch())
        let (item, load) = try await startedLoad(fixture, latch)
        let (journal, end) = (Journal(), Latch())
        load.onCompletion { _ in
            journal.add("hook")
            end.open()
        }
        let observation = item.observeSynchronously { change in
            switch change.event {
            case .newContent(.local):
                // The load ends while this thread delivers.
                latch.open()
                while item.isLoading { sched_yield() }
                journal.add("override")
            case .superseded: journal.add("superseded")
            default: break
            }
        }
        DispatchQueue(label: "test").async { item.override(with: Item(name: "own")) }
        await end.wait()
        #expect(journal.all == ["override", "superseded", "hook"])
        observation.cancel()
    }

    @Test("A load with a caller's own request is not sent to the servers of another environment")
    func changedEnvironment() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let new = EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/"), headerFields: [.userAgent: "new"])
        try fixture.service.configure("/item", methods: [.post]) { [environment = fixture.environment] in
            $0.mutate { _ in environment.set(new) }
        }
        await #expect(throws: RequestFailure(.cancelled, "")) {
            try await item.load(using: DataRequest(.post, "search"))
        }
        #expect(fixture.transport.requestCount == 0)
        #expect(item.state.failure == nil)
    }

    @Test("A wipe cancels a load with a caller's own request, whose response is ignored")
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
