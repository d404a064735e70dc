import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@Suite("Resource: writes and wipes", .leavesNothing, .timeLimit(.minutes(5)))
struct WriteWipeTests {
    @Test("After a wipe writes continue, even waiting ones, but their responses no longer change the state")
    func wipe() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.patch("2", optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        cart.wipe()
        #expect(cart.content == nil)
        #expect(cart.state.pending == 0)
        #expect(cart.any.runningRequests.count == 2)
        try await cart.load()
        let version = cart.state.version
        writes.answer(1, ScriptedAnswer(json: Cart(items: ["x"]), headerFields: [.contentLocation: "/v1/cart"]))
        #expect(try await first.value.status == .ok)
        writes.answer(2, ScriptedAnswer(.conflict))
        await #expect(throws: RequestFailure.self) { try await second.value }
        #expect(cart.state.version == version)
        #expect(cart.content == Cart(items: ["a"]))
        #expect(cart.isFresh)
    }

    @Test("A wipe that includes writes cancels them, even waiting ones")
    func includingWrites() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.patch("2", optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        cart.wipe(.includingWrites)
        await expectFailure(.cancelled) { try await first.value }
        await expectFailure(.cancelled) { try await second.value }
        #expect(cart.content == nil)
        #expect(cart.any.runningRequests.isEmpty)
        #expect(shop.transport.requestCount == 2)
        writes.answer(1)
    }

    @Test("A deletion that succeeds after a wipe leaves the content that was loaded since")
    func deletionAfterWipe() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop, .delete)
        let cart = shop.cart
        let task = Task { try await cart.delete() }
        _ = try await shop.transport.request(number: 2)
        cart.wipe()
        try await cart.load()
        writes.answer(1)
        _ = try await task.value
        #expect(cart.content == Cart(items: ["a"]))
    }

    @Test("A deletion cancels the loads, and keeps the changes of later writes")
    func deletion() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop, .delete)
        shop.transport.on(.put, "/v1/cart").answer(.created, headerFields: [.eTag: "\"2\""])
        let cart = shop.cart
        let task = Task { try await cart.delete() }
        _ = try await shop.transport.request(number: 2)
        let put = Task { try await cart.put(Cart(items: ["b"]), optimistically: { $0.items.append("b") }) }
        await settled { cart.state.pending == 1 }
        let latch = Latch()
        shop.transport.on(.get, "/v1/cart").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Cart(items: ["late"]))
        }
        let load = cart.startLoad()
        _ = try await shop.transport.request(number: 3)
        writes.answer(1)
        _ = try await task.value
        await expectFailure(.cancelled) { try await load.content }
        _ = try await put.value
        #expect(cart.content == Cart(items: ["b"]))
        #expect(cart.isFresh)
        latch.open()
    }

    @Test("A change of the environment removes changes, and the responses of the old servers no longer count")
    func environment() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let task = Task { try await cart.patch("b", optimistically: { $0.items.append("b") }) }
        _ = try await shop.transport.request(number: 2)
        shop.fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        writes.answer(1)
        _ = try? await task.value
        #expect(cart.state.pending == 0)
        #expect(cart.content == nil)
        #expect(!cart.isInvalid)
        #expect(shop.transport.requestCount == 2)
    }

    /// The account or server that follows the one for which writes were begun.
    enum Next: String, CaseIterable {
        case partition, authorization, environment
    }

    @Test("Waiting writes are not sent for another account or server", arguments: Next.allCases)
    func revoked(next: Next) async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let waiting = ["2", "3"].map { name in
            Task { try await cart.patch(name, optimistically: { $0.items.append(name) }) }
        }
        await settled { cart.state.pending == 3 }
        switch next {
        case .partition: shop.service.enter("bob")
        case .authorization: await shop.fixture.requests.clearAuthorization()
        case .environment:
            shop.fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
            #expect(cart == shop.service.resource("cart"))
        }
        writes.answer(1)
        _ = await first.result
        let reason: RequestFailure.Reason = next == .authorization ? .authorization : .cancelled
        for task in waiting { await expectFailure(reason) { try await task.value } }
        #expect(shop.transport.requestCount == 2)
        #expect(cart.content == nil)
        #expect(cart.any.runningRequests.isEmpty)
    }

    @Test("A request that was begun in one partition is not sent in another one", arguments: 0..<3)
    func otherPartition(kind: Int) async throws {
        let shop = try await CartFixture()
        let cart = shop.cart
        // The service holds the closure, so the closure must not hold the service in the end.
        let service = Mutex<HTTPResourceService?>(shop.service)
        try shop.service.configure("/cart") { configuration in
            // The next account logs in while the request is being made.
            configuration.mutate { _ in service.withLock { $0 }?.enter("bob") }
        }
        await expectFailure(.cancelled) {
            switch kind {
            case 0: try await cart.patch("b", optimistically: { $0.items.append("b") })
            case 1: _ = try await cart.request(.post, as: String.self).content
            default: try await cart.load()
            }
        }
        #expect(shop.service.partition == "bob")
        #expect(shop.transport.requestCount == 1)
        #expect(cart.content == nil && cart.state.failure == nil)
        #expect(cart.any.runningRequests.isEmpty)
        service.withLock { $0 = nil }
    }

    @Test("Closing the service cancels writes")
    func close() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let task = Task { try await cart.patch("b") }
        _ = try await shop.transport.request(number: 2)
        await shop.service.close()
        await expectFailure(.cancelled) { try await task.value }
        writes.answer(1)
    }

    @Test("A resource with a pending change is not dropped")
    func kept() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let count = shop.service.resourceCount
        let task = Task { [service = shop.service] in
            let other: Resource<Cart> = service.resource("cart", variant: .accept("text/csv"))
            return try await other.patch("b", optimistically: { $0.items.append("b") })
        }
        _ = try await shop.transport.request(number: 2)
        shop.service.dropUnused()
        #expect(shop.service.resourceCount == count + 1)
        writes.answer(1)
        _ = try await task.value
    }
}
