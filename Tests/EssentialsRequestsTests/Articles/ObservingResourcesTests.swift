import Dispatch
import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import Testing

@Suite("The article ObservingResources")
struct ObservingResourcesTests {
    struct Cart: Codable, Sendable, Equatable { var items: [String] }
    @MainActor private final class Title { var (text, progress) = ("", 0.0) }

    // Article begins
    actor Display {
        func run(_ cart: Resource<Cart>) async {
            for await state in cart.states(loading: .ifNeeded) {
                draw(
                    state.content, isStale: !state.isFresh,
                    state.failure?.message)
            }
        }
    }
    // Article ends

    @Test("The article on observing shows sequences and closures")
    @MainActor
    func observing() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/cart").answer(json: Cart(items: ["tea"]))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let service = try HTTPResourceService(requests: requests, environment: environment)
        let cart: Resource<Cart> = service.resource("cart")
        let title = Title()
        let shown = Mutex<[String]>([])
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        @Sendable func show(_ text: String) { shown.withLock { $0.append(text) } }
        @Sendable func log(_ event: ResourceEvent) async {
            if event == .wiped(.requested) { continuation.finish() }
        }
        let display = Task { await Display().run(cart) }

        // Article begins
        let observation = cart.observe { @MainActor change in
            title.text =
                change.state.content?.items.joined(separator: ", ") ?? "empty"
        }
        let onQueue = cart.observe(on: .main) { change in show("\(change.event)") }
        // Article ends

        // Article begins
        let observations = ResourceObservations()
        cart.observe { change in await log(change.event) }.store(in: observations)
        // Article ends

        // Article begins
        let bar = cart.observe(reportingProgress: true) { @MainActor change in
            title.progress = change.state.progress ?? 0
        }
        // Article ends

        try await cart.loadIfNeeded()
        let wiping = Task {
            while cart.observerCount < 6 { await Task.yield() }
            cart.wipe()
        }
        // Article begins
        for await change in cart.changes() {
            show("\(change.event), version \(change.state.version)")
            if case .wiped = change.event { break }
        }
        // Article ends
        await wiping.value
        for await _ in stream {}
        while title.text != "empty" { await Task.yield() }
        observation.cancel()
        bar.cancel()
        onQueue.cancel()
        display.cancel()
        await display.value
        #expect(shown.withLock { $0.contains { $0.hasPrefix("wiped(") } })
        observations.cancelAll()
    }
}

private func draw(_ cart: ObservingResourcesTests.Cart?, isStale: Bool, _ message: String?) {}
