import EssentialsResourcesTestKit
import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article TestingResources")
struct TestingResourcesTests {
    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    struct Cart: Codable, Sendable, Equatable {
        var items: Int
    }

    struct Shop: Sendable {
        let service: any ResourceService
        func user(_ id: String) -> Resource<User> { service.resource("users", id) }
    }

    @Test("The article on tests shows a scripted service, held requests and a recorder")
    func testing() async throws {
        var shown: [Cart?] = []
        func show(_ cart: Cart?) { shown.append(cart) }
        // Article begins
        let resources = try ScriptedResources()
        let shop = Shop(service: resources.service)
        resources.transport.on(.get, "/users/7").answer(json: User(name: "Ada"))
        let user = try await shop.user("7").loadIfNeeded()
        // Article ends
        #expect(user.name == "Ada")

        // Article begins
        let cart = resources.preset(Cart(items: 2), at: "cart")
        let first = try await cart.loadIfNeeded()
        resources.clock.advance(by: .seconds(31))
        resources.transport.on(.get, "/cart").answer(json: Cart(items: 3))
        let second = try await cart.loadIfNeeded()
        // Article ends
        #expect(first.items == 2 && second.items == 3)

        // Article begins
        let held = resources.hold("cart")
        let load = cart.startLoad()
        await held.arrived()
        cart.override(with: Cart(items: 5))  // something newer than the load
        held.answer(json: Cart(items: 4))
        try await resources.settled()
        show(cart.content)  // 5
        // Article ends
        #expect(shown == [Cart(items: 5)])
        #expect(try await load.content == Cart(items: 4))

        // Article begins
        let recorder = ResourceRecorder(cart)
        try await cart.load()
        cart.invalidate()
        try await recorder.expect(
            .attached, .requested, .newContent(.network), .invalidated)
        try recorder.expectNothingMore()
        // Article ends
    }

    private struct DiskFull: Error {}

    @Test("The article on tests shows a cache that fails")
    func failingCache() async throws {
        // Article begins
        let cache = ScriptedEntityCache()
        let resources = try ScriptedResources(cache: cache)
        resources.transport.on(.get, "/cart").answer(json: Cart(items: 1))
        cache.fail(with: DiskFull())
        let cart: Resource<Cart> = resources.service.resource("cart")
        let loaded = try await cart.load()  // the fault does not reach the load
        // Article ends
        #expect(loaded.items == 1)
        #expect(resources.service.cacheProblems.last == "DiskFull()")
        await resources.service.close()
    }
}
