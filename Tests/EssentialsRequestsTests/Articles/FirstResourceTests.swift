import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import Testing

@Suite("The article FirstResource")
struct FirstResourceTests {
    struct Cart: Codable, Sendable { var items: [String] }
    struct User: Codable, Sendable { var name: String }
    struct Order: Codable, Sendable { var number: Int }

    // Article begins
    struct Shop: Sendable {
        let service: any ResourceService
        var cart: Resource<Cart> { service.resource("cart") }
        func user(_ id: String) -> Resource<User> {
            service.resource("users", id)
        }
        func orders(of id: String) -> Resource<[Order]> {
            user(id).child("orders")
        }
    }
    // Article ends

    @Test("The article on the first resource shows a resource from its registration to a wipe")
    func firstResource() async throws {
        let server = try LoopbackServer { request in
            let isUser = request.path == "/v1/users/7"
            return .response(
                headers: [("Content-Type", "application/json")],
                body: isUser ? #"{"name":"Ada"}"# : #"{"items":["tea"]}"#)
        }
        let baseURL = server.url + "/v1/"
        let shown = Mutex<[String]>([])
        @Sendable func show(_ text: String) { shown.withLock { $0.append(text) } }

        // Article begins
        let locator = ServiceLocator(name: "shop")
        try locator.register(
            ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self))
        }
        try locator.registerLazy((any ResourceService).self) { locator in
            try HTTPResourceService(
                requests: locator.resolve((any DataRequestService).self),
                environment: locator.resolve((any EnvironmentService).self))
        }
        // Article ends
        // Article begins
        let shop = Shop(service: try locator.resolve((any ResourceService).self))
        let user = try await shop.user("7").loadIfNeeded()
        show(user.name)
        // Article ends

        // Article begins
        let state = shop.cart.state
        show(state.content.map { "\($0.items.count) items" } ?? "not loaded")
        if state.isLoading { show("loading") }
        if let failure = state.failure { show(failure.message) }
        // Article ends
        #expect(shown.withLock { $0 } == ["Ada", "not loaded"])

        // Article begins
        let cart = try await shop.cart.loadIfNeeded()
        show(shop.cart.json.content?["items"]?[0]?.string ?? "nothing")
        show(shop.cart.text.content ?? "")
        let isImage = shop.cart.imageHeader.content != nil
        // Article ends
        #expect(cart.items == ["tea"] && !isImage && server.requests.count == 2)
        #expect(shown.withLock { $0.suffix(2) } == ["tea", #"{"items":["tea"]}"#])

        // Article begins
        shop.cart.override(with: Cart(items: ["tea"]))
        shop.cart.update { $0.items.append("milk") }
        shop.cart.invalidate()  // the next loadIfNeeded asks the server
        shop.cart.wipe()
        // Article ends
        #expect(shop.cart.content == nil)
        #expect(try await shop.cart.loadIfNeeded().items == ["tea"])
        #expect(shop.orders(of: "7").url == baseURL + "users/7/orders")
        await locator.close()
        #expect(server.requests.count == 3)
    }
}
