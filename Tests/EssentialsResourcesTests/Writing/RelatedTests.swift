import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Resource: related resources", .leavesNothing, .timeLimit(.minutes(5)))
struct RelatedTests {
    private func content(_ shop: CartFixture, _ path: String) -> Resource<Item> {
        let resource: Resource<Item> = shop.service.resource(path)
        resource.override(with: Item(name: path))
        return resource
    }

    @Test("A success invalidates the resources of a pattern, and a failure does not")
    func pattern() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.post, "/v1/cart").answer(.conflict).thenAnswer(.noContent)
        let (order, deep, other) = (
            content(shop, "orders/1"), content(shop, "orders/1/lines"), content(shop, "profile")
        )
        await #expect(throws: RequestFailure.self) { try await shop.cart.post("x", invalidating: "/orders/**") }
        #expect(order.isFresh)
        try await shop.cart.post("x", invalidating: "/orders/**")
        #expect(order.isInvalid && deep.isInvalid)
        #expect(other.isFresh)
        #expect(order.content?.name == "orders/1")
        #expect(shop.transport.requestCount == 3)
    }

    @Test("Patterns, tags and single resources can be named together")
    func several() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try shop.service.configure("/products/*") { $0.tags = ["prices", "stock"] }
        let (order, product, profile, rest) = (
            content(shop, "orders"), content(shop, "products/1"), content(shop, "profile"), content(shop, "rest")
        )
        try await shop.cart.put(Cart(), invalidating: ["/orders", .tag("prices"), .tag("x"), .resource(profile)])
        #expect(order.isInvalid && product.isInvalid && profile.isInvalid)
        #expect(rest.isFresh)
        #expect(shop.cart.isFresh)
        try await shop.cart.put(Cart(), invalidating: .pattern(.matching { $0.isBelowBase }))
        #expect(rest.isInvalid)
        // Content that the response has just made fresh stays fresh, although the pattern selects it.
        #expect(shop.cart.isFresh)
    }

    @Test("Resources of another origin or another service stay as they are")
    func otherOrigin() async throws {
        let shop = try await CartFixture()
        let elsewhere = try await CartFixture()
        shop.transport.on(.delete, "/v1/cart").answer(.noContent)
        let foreign: Resource<Item> = shop.service.resource(url: "https://example.com/v1/orders")
        foreign.override(with: Item(name: "x"))
        let outside: Resource<Item> = shop.service.resource(url: "https://h/v2/orders")
        outside.override(with: Item(name: "x"))
        try await shop.cart.delete(
            invalidating: [.pattern(.regex(/orders/)), .resource(foreign), .resource(elsewhere.cart)])
        #expect(foreign.isFresh)
        #expect(elsewhere.cart.isFresh)
        #expect(outside.isInvalid)
    }

    @Test("Observed related resources are loaded, and so is the written one if it is named and invalid")
    func observed() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.post, "/v1/cart").answer(.noContent)
        shop.transport.on(.get, "/v1/orders/1").answer(json: Item(name: "new"))
        let (seen, unseen) = (content(shop, "orders/1"), content(shop, "orders/2"))
        let observation = seen.observe { _ in }
        let ownObservation = shop.cart.observe { _ in }
        try await shop.cart.post("x", invalidating: "/orders/*")
        await settled { seen.content?.name == "new" }
        #expect(!seen.isInvalid)
        #expect(unseen.isInvalid)
        #expect(shop.cart.isInvalid)
        #expect(shop.transport.requests.last?.headerFields[.cacheControl] == "no-cache")
        #expect(shop.transport.requestCount == 3)
        try await shop.cart.post("x", invalidating: .resource(shop.cart))
        await settled { !shop.cart.isInvalid }
        observation.cancel()
        ownObservation.cancel()
    }

    @Test("A malformed pattern fails before anything is sent or shown")
    func malformed() async throws {
        let shop = try await CartFixture()
        await expectFailure(.invalidRequest) {
            try await shop.cart.patch("x", optimistically: { $0.items = [] }, invalidating: ["/a", "/***"])
        }
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(shop.transport.requestCount == 1)
    }

    @Test("After a change of the environment the resources at the same paths are not related")
    func environment() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop, .post)
        let cart = shop.cart
        let task = Task { try await cart.post("x", invalidating: "/orders/**") }
        _ = try await shop.transport.request(number: 2)
        shop.fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        let order = content(shop, "orders/1")
        writes.answer(1)
        _ = try? await task.value
        #expect(order.isFresh)
    }

    @Test("Of many observed related resources, four are loaded at a time")
    func manyObserved() async throws {
        let shop = try await CartFixture()
        let latch = Latch()
        shop.transport.on(.post, "/v1/cart").answer(.noContent)
        shop.transport.on(.get, "/v1/orders/*").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "new"))
        }
        let orders = (0..<50).map { content(shop, "orders/\($0)") }
        let observations = orders.map { $0.observeSynchronously { _ in } }
        try await shop.cart.post("x", invalidating: "/orders/*")
        #expect(orders.count { $0.isInvalid } == 50)
        _ = try await shop.transport.request(number: 6)
        #expect(orders.count { $0.isLoading } == 4)
        latch.open()
        await settled { orders.allSatisfy { $0.content?.name == "new" } }
        #expect(orders.count { $0.isInvalid } == 0)
        #expect(shop.transport.requestCount == 52)
        for observation in observations { observation.cancel() }
    }
}
