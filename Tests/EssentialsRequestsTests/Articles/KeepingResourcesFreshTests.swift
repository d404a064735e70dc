import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article KeepingResourcesFresh")
struct KeepingResourcesFreshTests {
    struct Job: Codable, Sendable { var isFinished: Bool }
    struct Price: Codable, Sendable { var name: String }
    struct User: Codable, Sendable { var accountID: String }

    let clock = ManualClock()
    let transport = ScriptedTransport()
    let reachability: any ReachabilityService = ControlledReachability()

    private func service() throws -> HTTPResourceService {
        let clock = clock.requestClock
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        // Article begins
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock
        let service = try HTTPResourceService(
            requests: requests, environment: environment,
            reachability: reachability, configuration: configuration)
        // Article ends
        return service
    }

    @Test("The article on fresh resources shows regular loads")
    func polling() async throws {
        let service = try service()
        transport.on(.get, "/v1/prices").answer(json: [Price(name: "a")])
        // Article begins
        try service.configure("/prices") {
            $0.refresh = .every(.seconds(5), jitter: 0.1)
        }
        try service.configure("/jobs/*") {
            $0.refresh = .every(.seconds(2)) { job in
                job.resource(as: Job.self).content?.isFinished == true
            }
        }
        // Article ends
        @Sendable func draw(_ prices: [Price]?) {}
        // Article begins
        let prices: Resource<[Price]> = service.resource("prices")
        let quick = prices.observe(refreshing: .every(.seconds(1))) { change in
            draw(change.state.content)
        }
        // Article ends
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 1)
        // Article begins
        quick.cancel()
        // Article ends
    }

    @Test("The article on fresh resources shows pushed events")
    func events() async throws {
        let service = try service()
        transport.on(.get, "/v1/events").answer(.noContent)
        // Article begins
        let events = service.follow(eventsAt: "events", feeding: ["/orders/*"]) {
            event, resources in
            switch event.event {
            case "order":
                resources.invalidate(
                    resources.resource("orders", event.data, as: String.self))
            case "motto":
                resources.push(
                    event.data, to: resources.resource("motto", as: String.self))
            default: break
            }
        }
        // Article ends
        while events.status != .ended { await Task.yield() }
        // Article begins
        events.cancel()
        // Article ends
    }

    @Test("The article on fresh resources shows loads in advance, groups and dependent resources")
    func several() async throws {
        let service = try service()
        transport.on(.get, "/v1/cart").answer(pieces: ["cart"], headerFields: [.contentType: "text/plain"])
        transport.on(.get, "/v1/motto").answer(pieces: ["motto"], headerFields: [.contentType: "text/plain"])
        transport.on(.get, "/v1/user").answer(json: User(accountID: "7"))
        transport.on(.get, "/v1/orders/7").answer(json: ["one"])
        let (cart, motto) = (service.resource("cart", as: String.self), service.resource("motto", as: String.self))
        // Article begins
        let prefetch = service.prefetch(cart, motto)
        await prefetch.waitUntilCompleted()
        let urgent = try await cart.loadIfNeeded(priority: .interactive)
        // Article ends
        #expect(urgent == "cart")
        // Article begins
        let group = ResourceGroup(cart, motto)
        let (cartText, mottoText) = try await group.loadIfNeeded()
        // Article ends
        #expect((cartText, mottoText) == ("cart", "motto"))
        func draw(_ orders: [String]?, _ isLoading: Bool) {}
        // Article begins
        let user: Resource<User> = service.resource("user")
        let orders = user.then { user in
            service.resource("orders", user.accountID, as: [String].self)
        }
        for await state in orders.states(loading: .ifNeeded) {
            draw(state.content, state.isLoading)
            if state.content != nil { break }
        }
        // Article ends
        #expect(orders.target?.content == ["one"])
    }
}
