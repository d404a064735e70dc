import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import Testing

@Suite("The article WritingOptimistically")
struct WritingOptimisticallyTests {
    private struct Cart: Codable, Sendable { var items: [String] = [] }
    private struct Add: Codable, Sendable {
        var item: String
        init(_ item: String) { self.item = item }
    }
    private struct Order: Codable, Sendable { var number: Int }
    private struct User: Codable, Sendable { var name: String }
    private enum Users: APIService {
        static func rename(id: Int, to name: String) -> APIRequest<Void> {
            request(.patch, "users/\(id)") { RequestContent { User(name: name) } }
        }
    }

    private func scriptedTransport() -> ScriptedTransport {
        let transport = ScriptedTransport()
        transport.on(.patch, "/v1/**").answer(.noContent)
        transport.on(.post, "/v1/cart").answer(.noContent)
        transport.on(.delete, "/v1/cart").answer(.notFound)
        transport.on(.post, "/v1/orders").answer(.created, headerFields: [.location: "/v1/orders/7"])
        transport.on(.get, "/v1/article").answer(text: "old", headerFields: [.eTag: "\"1\""])
        transport.on(.put, "/v1/article", headerFields: [.ifMatch: "\"1\""]).answer(.preconditionFailed)
        return transport
    }

    @Test("The article on writing shows optimistic changes, conditions, related resources and definitions")
    func writing() async throws {
        let transport = scriptedTransport()
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let service = try HTTPResourceService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), environment: environment)
        let orders: Resource<[Order]> = service.resource("orders")
        let article: Resource<String> = service.resource("article")
        let profile: Resource<User> = service.resource("users", "7")
        let (item, note, order, edited) = ("tea", "gift", Order(number: 7), "new")
        let shown = Mutex<[String]>([])
        func show(_ message: String) { shown.withLock { $0.append(message) } }
        orders.override(with: [])
        profile.override(with: User(name: "Grace"))
        try await article.load()

        // Article begins
        let cart: Resource<Cart> = service.resource("cart")
        try await cart.patch(
            Add(item), optimistically: { $0.items.append(item) },
            invalidating: "/orders/**")
        // Article ends
        #expect(cart.isInvalid)

        // Article begins
        let outcome = try await orders.post(order)
        let created: Resource<Order>? = outcome.location?.resource()
        // Article ends
        #expect(created?.url == "https://api.example.com/v1/orders/7")

        // Article begins
        try await cart.post(note, .concurrent)
        // Article ends

        // Article begins
        do {
            try await article.put(edited, .ifUnchanged)
        } catch {
            guard error.status == .preconditionFailed else { throw error }
            show("Somebody else has changed the article.")
        }
        // Article ends
        #expect(shown.withLock { $0.count } == 1)
        #expect(article.content == "old")

        // Article begins
        try service.configure("/products/*") { $0.tags = ["prices"] }
        try await cart.delete(invalidating: [
            "/orders/**", .tag("prices"), .resource(profile),
        ])
        // Article ends
        #expect(cart.content == nil)
        #expect(profile.isInvalid)

        // Article begins
        try await profile.send(
            Users.rename(id: 7, to: "Ada"), optimistically: { $0.name = "Ada" })
        // Article ends
        #expect(profile.content?.name == "Ada")
    }
}
