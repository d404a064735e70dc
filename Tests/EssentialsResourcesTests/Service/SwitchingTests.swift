import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resources and changes of the environment", .leavesNothing)
struct SwitchingTests {
    @Test("Observers are notified of a change of the environment even if the resource is not used")
    func following() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "old"))
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        let change = await changes.next()
        #expect(change?.event == .wiped(.environment))
        #expect(change?.state.content == nil)
        #expect(item.url == "https://new/v2/item")
    }

    @Test("A change of header fields or of the trust policy alone removes the content too")
    func otherFields() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "old"))
        let url = try RequestURL("https://h/v1/")
        fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.userAgent: "other"]))
        #expect(item == fixture.service.resource("item"))
        #expect(item.content == nil)
    }

    @Test("A resource of another host that does not lie below the new base keeps its content")
    func foreign() throws {
        let fixture = try ResourceFixture()
        let picture: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/picture")
        picture.override(with: Item(name: "picture"))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(picture == fixture.service.resource(url: "https://cdn.example.com/picture"))
        #expect(picture.content?.name == "picture")
    }

    @Test("Each load goes to the environment in which it began, and the change before it does not cancel it")
    func loadsDuringChanges() async throws {
        let fixture = try ResourceFixture()
        for number in 0...20 {
            fixture.transport.on(.get, "/v\(number)/item").answer(json: Item(name: "\(number)"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        for number in 0...20 {
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v\(number)/")))
            #expect(try await item.load().name == "\(number)")
        }
        #expect(fixture.transport.requests.map(\.url.path) == (0...20).map { "/v\($0)/item" })
    }

    @Test("Loads and reads of many tasks never mix two environments")
    func concurrentChanges() async throws {
        let fixture = try ResourceFixture()
        for number in 1...50 {
            for path in ["a", "b"] {
                fixture.transport.on(.get, "/v\(number)/\(path)").answer(json: Item(name: "\(number)/\(path)"))
            }
        }
        let (environment, service) = (fixture.environment, fixture.service)
        try await withThrowingTaskGroup { group in
            for path in ["a", "b"] {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            let item: Resource<Item> = service.resource(path)
                            // A change cancels the loads that began before it, and no other loads.
                            let name = try? await item.loadIfNeeded().name
                            if let name { #expect(name.hasSuffix("/\(path)")) }
                        }
                    }
                }
            }
            group.addTask {
                for number in 1...50 {
                    let url = try RequestURL("https://h/v\(number)/")
                    environment.set(EnvironmentSnapshot(baseURL: url))
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        for path in ["a", "b"] {
            let item: Resource<Item> = service.resource(path)
            #expect(try await item.loadIfNeeded().name == "50/\(path)")
            #expect(item.content?.name == "50/\(path)")
        }
    }

    @Test("Observed resources are loaded again after a change, four at a time")
    func reloading() async throws {
        let fixture = try ResourceFixture()
        let items: [Resource<Item>] = (0..<10).map { fixture.service.resource("items/\($0)") }
        let unloaded: Resource<Item> = fixture.service.resource("unloaded")
        fixture.transport.on(.get, "/v1/items/*").answer(json: Item(name: "old"))
        for item in items { try await item.load() }
        let observations = items.dropLast().map { $0.observeSynchronously { _ in } }
        let other = unloaded.observeSynchronously { _ in }
        let latch = Latch()
        fixture.transport.on(.get, "/v2/items/*").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "new"))
        }
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        #expect(fixture.service.resource("items/9", as: Item.self).content == nil)
        _ = try await fixture.transport.request(number: 14)
        #expect(items.count { $0.isLoading } == 4)
        latch.open()
        for item in items.dropLast() {
            for await state in item.states() where state.content?.name == "new" { break }
        }
        #expect(fixture.transport.requestCount == 19)
        #expect(items[9].content == nil && unloaded.content == nil)
        withExtendedLifetime((observations, other)) {}
    }

    @Test(
        "Resources that only observer objects observe are loaded again after a change", arguments: ["v2", "partition"])
    func observerObjects(change: String) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: 1).thenAnswer(json: 2)
        fixture.transport.on(.get, "/v2/item").answer(json: 2)
        let (owner, log) = (Owner(), StateLog())
        let item: Resource<Int> = fixture.service.resource("item")
        try await item.load()
        item.addObserver(owner: owner) { log.add($0) }
        if change == "v2" {
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
            fixture.service.resource("other", as: Int.self).invalidate()
        } else {
            fixture.service.enter("bob")
        }
        await log.wait { $0 == [1, 2] }
        #expect(item.content == 2)
        item.removeObservers(ownedBy: owner)
    }

    @Test("A resource whose observer objects were all released is not loaded again after a change")
    func deadObserverObjects() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/*").answer(json: 1)
        let items: [Resource<Int>] = ["dead", "observed"].map { fixture.service.resource($0) }
        for item in items { try await item.load() }
        var owner: Owner? = Owner()
        if let owner { items[0].addObserver(owner: owner) { _ in } }
        let observation = items[1].observeSynchronously { _ in }
        owner = nil
        fixture.service.enter("bob")
        for await state in items[1].states() where state.content == 1 { break }
        #expect(fixture.transport.requests.map(\.url.path) == ["/v1/dead", "/v1/observed", "/v1/observed"])
        observation.cancel()
    }

    @Test("Two thousand observed resources are all loaded again after a change, four at a time")
    func manyObserved() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/items/*").answer { request in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        let items: [Resource<Int>] = (0..<2_000).map { fixture.service.resource("items/\($0)") }
        for item in items { item.override(with: 0) }
        let observations = items.map { $0.observeSynchronously { _ in } }
        fixture.service.enter("bob")
        _ = try await fixture.transport.request(number: 4)
        #expect(items.count { $0.isLoading } == 4)
        // Resources that still wait after the previous change wait once.
        fixture.service.reload(items.map(\.core))
        #expect(fixture.service.reloading.waitingCount <= 2_000)
        latch.open()
        for item in items {
            for await state in item.states() where state.content == 1 { break }
        }
        // The four resources that were loading when all were requested again are fresh when it is their turn.
        #expect(fixture.transport.requestCount == 2_000)
        for observation in observations { observation.cancel() }
    }

    @Test("Entering a partition removes all content, cancels loads, and loads observed resources")
    func partition() async throws {
        let fixture = try ResourceFixture()
        let cart: Resource<Item> = fixture.service.resource("cart")
        let foreign: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/picture")
        let slow: Resource<Item> = fixture.service.resource("slow")
        fixture.transport.on(.get, "/v1/cart").answer(json: Item(name: "Ada's")).thenAnswer(json: Item(name: "Bob's"))
        let latch = Latch()
        fixture.transport.on(.get, "/v1/slow").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "Ada's"))
        }
        try await cart.load()
        foreign.override(with: Item(name: "Ada's"))
        let load = slow.startLoad()
        _ = try await fixture.transport.request(number: 2)
        var states = cart.states().makeAsyncIterator()
        #expect(await states.next()?.content?.name == "Ada's")
        fixture.service.enter("bob")
        #expect(fixture.service.partition == "bob")
        #expect(foreign.content == nil && cart.content?.name != "Ada's")
        await #expect(throws: RequestFailure(.cancelled, "The load was cancelled.")) { try await load.content }
        while let state = await states.next(), state.content?.name != "Bob's" {}
        latch.open()
        #expect(cart.content?.name == "Bob's")
        #expect(slow.content == nil)
        fixture.service.enter("bob")
        #expect(cart.content?.name == "Bob's")
    }

    @Test("Entities in a cache belong to the partition, and are purged with its resources")
    func cachedPartitions() async throws {
        let cache = MemoryEntityCache()
        let fixture = try ResourceFixture(cache: cache)
        fixture.transport.on(.get, "/v1/cart").answer(json: Item(name: "first")).thenAnswer(json: Item(name: "second"))
            .thenAnswer(json: Item(name: "third"))
        let cart: Resource<Item> = fixture.service.resource("cart")
        fixture.service.enter("ada")
        #expect(try await cart.loadIfNeeded().name == "first")
        fixture.service.enter("bob")
        #expect(try await cart.loadIfNeeded().name == "second")
        fixture.service.enter("ada")
        #expect(try await cart.loadIfNeeded().name == "first")
        #expect(fixture.transport.requestCount == 2)
        #expect(try await fixture.service.wipe("/cart", purging: .caches))
        #expect(try await cart.loadIfNeeded().name == "third")
        await fixture.requests.clearAuthorization()
        fixture.service.enter("bob")
        fixture.service.enter("ada")
        fixture.transport.on(.get, "/v1/cart").answer(json: Item(name: "fourth"))
        #expect(try await cart.loadIfNeeded().name == "fourth")
    }
}
