import EssentialsHTTP
import EssentialsResources
import EssentialsResourcesTestKit
import EssentialsTestKit
import Testing

@Suite("Scripted resources")
struct ScriptedResourcesTests {
    struct Cart: Codable, Sendable, Equatable {
        var items: Int
    }

    let resources: ScriptedResources
    let cart: Resource<Cart>

    init() throws {
        resources = try ScriptedResources(baseURL: "https://api.example.com/v1")
        cart = resources.service.resource("cart")
    }

    @Test("Preset content is there without a request, and is fresh until the clock has moved")
    func preset() async throws {
        #expect(resources.preset(Cart(items: 2), at: "cart") == cart)
        #expect(try await cart.loadIfNeeded() == Cart(items: 2))
        #expect(resources.transport.requestCount == 0)
        resources.transport.on(.get, "/v1/cart").answer(json: Cart(items: 3))
        resources.clock.advance(by: .seconds(31))
        #expect(try await cart.loadIfNeeded() == Cart(items: 3))
    }

    @Test("Held requests wait until they are answered, and later ones are answered at once")
    func hold() async throws {
        let held = resources.hold("cart")
        let load = cart.startLoad()
        await held.arrived()
        #expect(cart.isLoading)
        held.answer(json: Cart(items: 1))
        #expect(try await load.content == Cart(items: 1))
        #expect(try await cart.load() == Cart(items: 1))
        #expect(held.arrivedCount == 2)
    }

    @Test("Held requests can fail, and can be cancelled")
    func heldFailures() async throws {
        let held = resources.hold("/cart")
        let load = cart.startLoad()
        await held.arrived()
        cart.cancelLoads()
        let cancelled = await #expect(throws: RequestFailure.self) { try await load.content }
        #expect(cancelled?.reason == .cancelled)
        try await resources.settled()
        let second = cart.startLoad()
        await held.arrived(2)
        held.fail(.timeout)
        let failure = await #expect(throws: RequestFailure.self) { try await second.content }
        #expect(failure?.reason == .timeout)
        held.answer(.noContent)
        let empty = await #expect(throws: RequestFailure.self) { try await cart.load() }
        #expect(empty?.reason == .emptyBody)
    }

    @Test("Settling waits for what runs, and names what does not end")
    func settled() async throws {
        try await resources.settled()
        let held = resources.hold("cart")
        cart.startLoad()
        await held.arrived()
        let mismatch = await #expect(throws: ResourceMismatch.self) {
            try await resources.settled(within: .milliseconds(1))
        }
        #expect(mismatch?.description.contains("https://api.example.com/v1/cart") == true)
        held.answer(json: Cart(items: 1))
        try await resources.settled()
        #expect(cart.content == Cart(items: 1))
    }

    @Test("A recorder compares events in their order, each of them once")
    func recorder() async throws {
        resources.transport.on(.get, "/v1/cart").answer(json: Cart(items: 1)).thenAnswer(.internalServerError)
        let recorder = ResourceRecorder(cart)
        try await cart.load()
        try await recorder.expect(.attached, .requested, .newContent(.network))
        try recorder.expectNothingMore()
        cart.startLoad()
        try await recorder.expect(.requested, .failed(reason: .status))
        #expect(recorder.events.count == 5)
        #expect(recorder.changes[2].state.content == Cart(items: 1))
    }

    @Test("A mismatch shows what came instead, and what did not come")
    func mismatch() async throws {
        let recorder = ResourceRecorder(cart)
        cart.override(with: Cart(items: 1))
        cart.invalidate()
        let wrong = await #expect(throws: ResourceMismatch.self) {
            try await recorder.expect(.attached, .newContent(.network))
        }
        #expect(wrong?.differences.count == 3)
        #expect(wrong?.description.contains("2: expected newContent") == true)
        let further = #expect(throws: ResourceMismatch.self) { try recorder.expectNothingMore() }
        #expect(further?.description.contains("invalidated") == true)
        let missing = await #expect(throws: ResourceMismatch.self) {
            try await recorder.expect(.invalidated, .requested, within: .milliseconds(1))
        }
        #expect(missing?.description.contains("2: expected requested, nothing came") == true)
        try recorder.expectNothingMore()
    }
}
