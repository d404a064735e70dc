import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article AccountsAndEnvironments")
struct AccountsAndEnvironmentsTests {
    struct Cart: Codable, Sendable, Equatable {
        var items: [String]
    }

    let environment: MutableEnvironment
    let transport = ScriptedTransport()
    let requests: HTTPDataRequestService
    let service: HTTPResourceService

    init() throws {
        environment = try MutableEnvironment("https://api.example.com/v1/")
        requests = HTTPDataRequestService(environment: environment, transport: transport)
        service = try HTTPResourceService(requests: requests, environment: environment)
    }

    @Test("The article on accounts and environments shows a change of the environment")
    func environments() async throws {
        transport.on(.get, "/v1/cart").answer(json: Cart(items: ["a"]))
        var shown: [Cart?] = []
        func show(_ isSame: Bool, _ cart: Cart?) {
            #expect(isSame)
            shown.append(cart)
        }
        // Article begins
        let cart: Resource<Cart> = service.resource("cart")
        try await cart.load()  // https://api.example.com/v1/cart
        try environment.set(baseURL: "https://staging.example.com/v1/")
        let same: Resource<Cart> = service.resource("cart")
        // true, nil: the content came from the other server
        show(same == cart, same.content)
        try await cart.load()  // https://staging.example.com/v1/cart
        // Article ends
        #expect(shown == [nil])
        #expect(transport.requests.map(\.url.origin.host.text) == ["api.example.com", "staging.example.com"])
    }

    @Test("The article on accounts and environments shows another account, and a logout")
    func accounts() async throws {
        let (token, account) = ("secret", "account-7")
        service.resource("cart", as: Cart.self).override(with: Cart(items: ["a"]))
        // Article begins
        requests.setAuthorization(try .bearer(token))
        service.enter(EntityPartition(account))
        // Article ends
        #expect(service.resource("cart", as: Cart.self).content == nil)
        service.resource("cart", as: Cart.self).override(with: Cart(items: ["b"]))
        // Article begins
        await requests.clearAuthorization()
        service.enter(.shared)
        // Article ends
        #expect(service.resource("cart", as: Cart.self).content == nil)
        #expect(service.partition.isShared)
    }

    @Test("The article on accounts and environments shows how resources are wiped by hand")
    func wipes() async throws {
        let order: Resource<Cart> = service.resource("orders/1/lines")
        let account: Resource<Cart> = service.resource("accounts/1")
        order.override(with: Cart(items: ["a"]))
        account.override(with: Cart(items: ["a"]))
        // Article begins
        try service.invalidate("/orders/**")  // outdated, but still shown
        service.invalidate(tagged: ["prices"])
        // removed from memory, and in the background from the caches
        try service.wipe("/accounts/*")
        // waits for the caches, for five seconds
        try await service.wipe("/accounts/**", purging: .caches)
        // everywhere, and writes are cancelled
        try service.wipe(.all, .includingWrites)
        // Article ends
        #expect(order.content == nil && account.content == nil)
    }

    @Test("The article on accounts and environments shows a service of a child locator")
    func scopes() async throws {
        let locator = ServiceLocator(name: "app")
        try locator.register(environment, as: (any EnvironmentService).self)
        try locator.register(requests, as: (any DataRequestService).self)
        // Article begins
        let scope = ServiceLocator(name: "support", parent: locator)
        try scope.registerLazy((any ResourceService).self) { locator in
            let service = try HTTPResourceService(
                requests: locator.resolve((any DataRequestService).self),
                environment: locator.resolve((any EnvironmentService).self))
            service.enter("support")
            return service
        }
        // Article ends
        let service = try #require(scope.resolve((any ResourceService).self) as? HTTPResourceService)
        #expect(service.partition == "support")
        await scope.close()
        #expect(service.isClosed)
    }
}
