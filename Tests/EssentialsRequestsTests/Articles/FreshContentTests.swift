import EssentialsResources
import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article FreshContent")
struct FreshContentTests {
    @Test("The article on freshness shows the settings, and how a load loses its interest")
    func freshness() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        let gate = LoopbackGate()
        transport.on(.get, "/v1/cart").answer { _ in
            await gate.opened()
            return ScriptedAnswer(.ok)
        }
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        // Article begins
        var configuration = HTTPResourceService.Configuration()
        configuration.defaults.expiration = .seconds(300)
        let service = try HTTPResourceService(
            requests: requests, environment: environment,
            configuration: configuration)
        // Article ends
        observed(&configuration)
        #expect(configuration.observers.count == 1)
        try await byServer(service, transport)
        var shown: [Bool] = []
        func show(_ value: Bool) { shown.append(value) }
        let cart: Resource<String> = service.resource("cart")

        // Article begins
        let load = cart.startLoad()
        try await Task.sleep(for: .milliseconds(1))
        cart.cancelLoads()
        show(load.isCompleted)
        // Article ends
        gate.open()
        #expect(shown == [true])
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
    }

    private func observed(_ configuration: inout HTTPResourceService.Configuration) {
        // Article begins
        final class LoadPrinter: LoadObserver {
            func observe(_ event: LoadEvent) {
                switch event.kind {
                case .began(let reason): print(event.resource, "loaded:", reason)
                case .skipped(let skip): print(event.resource, "not loaded:", skip)
                case .ended(.failed(let failure)): print(event.resource, failure)
                default: break
                }
            }
        }
        configuration.observers = [LoadPrinter()]
        // Article ends
    }

    private func byServer(_ service: HTTPResourceService, _ transport: ScriptedTransport) async throws {
        transport.on(.get, "/v1/prices/7").answer(text: "3", headerFields: [.cacheControl: "max-age=600"])
        var left: Duration?
        func show(_ price: String, freshFor: Duration?) { left = freshFor }
        let prices: Resource<String> = service.resource("prices/7")
        // Article begins
        try service.configure("/prices/*") {
            $0.expiration = .byServer(else: .seconds(5))
        }
        let price = try await prices.loadIfNeeded()
        show(price, freshFor: prices.state.freshFor)
        // Article ends
        #expect(try #require(left) > .seconds(500))
    }
}
