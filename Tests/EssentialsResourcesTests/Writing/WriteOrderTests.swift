import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Resource: order of writes", .leavesNothing, .timeLimit(.minutes(5)))
struct WriteOrderTests {
    @Test("Writes of one resource are sent one after another, in the order of the calls")
    func oneAfterAnother() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        await settled { cart.state.pending == 1 }
        let second = Task { try await cart.patch("2", optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        let third = Task { try await cart.patch("3", optimistically: { $0.items.append("3") }) }
        await settled { cart.state.pending == 3 }
        #expect(shop.transport.requests.dropFirst().map(\.bodyText) == ["1"])
        writes.answer(1)
        _ = try await first.value
        _ = try await shop.transport.request(number: 3)
        #expect(shop.transport.requests.dropFirst().map(\.bodyText) == ["1", "2"])
        #expect(cart.content == Cart(items: ["a", "1", "2", "3"]))
        // A failure lets the next write begin as well.
        writes.answer(2, ScriptedAnswer(.conflict))
        await #expect(throws: RequestFailure.self) { try await second.value }
        writes.answer(3)
        _ = try await third.value
        #expect(shop.transport.requests.dropFirst().map(\.bodyText) == ["1", "2", "3"])
        #expect(cart.content == Cart(items: ["a", "1", "3"]))
    }

    @Test("A concurrent write overtakes waiting writes, and writes of other resources do not wait")
    func concurrent() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        shop.transport.on(.patch, "/v1/other").answer(.noContent)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.patch("2", optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        let third = Task { try await cart.patch("3", .concurrent) }
        _ = try await shop.transport.request(number: 3)
        writes.answer(2)
        _ = try await third.value
        try await shop.service.resource("other", as: Cart.self).patch("x")
        #expect(shop.transport.requests.dropFirst().map(\.bodyText) == ["1", "3", "x"])
        writes.answer(1)
        writes.answer(3)
        _ = try await (first.value, second.value)
    }

    @Test("A write that is cancelled while it waits ends at once and sends nothing")
    func cancelledWhileWaiting() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.patch("2", optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        second.cancel()
        await expectFailure(.cancelled) { try await second.value }
        #expect(cart.content == Cart(items: ["a", "1"]))
        let third = Task { try await cart.patch("3", optimistically: { $0.items.append("3") }) }
        await settled { cart.state.pending == 2 }
        writes.answer(1)
        writes.answer(2)
        _ = try await (first.value, third.value)
        #expect(shop.transport.requests.dropFirst().map(\.bodyText) == ["1", "3"])
    }

    @Test("A task that is already cancelled sends nothing")
    func cancelledBefore() async throws {
        let shop = try await CartFixture()
        let cart = shop.cart
        let latch = Latch()
        let task = Task {
            await latch.wait()
            return try await cart.patch("1", optimistically: { $0.items.append("1") })
        }
        task.cancel()
        latch.open()
        await expectFailure(.cancelled) { try await task.value }
        #expect(cart.content == Cart(items: ["a"]))
        #expect(shop.transport.requestCount == 1)
    }

    @Test("At most 256 writes wait")
    func limit() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        await withTaskGroup { group in
            for _ in 0...256 { group.addTask { _ = try? await cart.patch("x") } }
            await settled { cart.any.runningRequests.count == 257 }
            await expectFailure(.queueFull) { try await cart.patch("y") }
            cart.wipe(.includingWrites)
            writes.answer(1)
        }
        #expect(cart.any.runningRequests.isEmpty)
        #expect(shop.transport.requestCount <= 2)
    }

    @Test("With ifUnchanged a write sends the strong tag of the content")
    func ifUnchanged() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try await shop.cart.put(Cart(items: ["b"]), .ifUnchanged)
        #expect(shop.transport.requests.last?.headerFields[.ifMatch] == "\"1\"")
        try await shop.cart.put(Cart(items: ["c"]), .ifUnchanged)
        #expect(shop.transport.requests.last?.headerFields[.ifMatch] == "\"2\"")
        try await shop.cart.put(Cart(items: ["c"]), .ifUnchanged, headerFields: [.ifMatch: "\"own\""])
        #expect(shop.transport.requests.last?.headerFields[.ifMatch] == "\"own\"")
        try await shop.cart.put(Cart(items: ["c"]))
        #expect(shop.transport.requests.last?.headerFields[.ifMatch] == nil)
    }

    @Test("Without a strong tag a write with ifUnchanged fails and sends nothing", arguments: ["W/\"1\"", nil])
    func noStrongTag(tag: String?) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/cart").answer(
            json: Cart(items: ["a"]), headerFields: tag.map { [.eTag: $0] } ?? [:])
        let cart: Resource<Cart> = fixture.service.resource("cart")
        try await cart.load()
        await expectFailure(.invalidRequest) {
            try await cart.put(Cart(items: ["b"]), .ifUnchanged, optimistically: { $0.items = [] })
        }
        #expect(cart.content == Cart(items: ["a"]))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test(
        "A waiting write uses the tag that the earlier own write has made, and not the tag of another client's change")
    func tagsInQueue() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop, .put)
        let cart = shop.cart
        let first = Task { try await cart.put(Cart(items: ["1"]), .ifUnchanged, optimistically: { $0.items = ["1"] }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.put(Cart(items: ["2"]), .ifUnchanged, optimistically: { $0.items = ["2"] }) }
        await settled { cart.state.pending == 2 }
        writes.answer(1, ScriptedAnswer(.noContent, headerFields: [.eTag: "\"2\""]))
        _ = try await first.value
        let sent = try await shop.transport.request(number: 3)
        #expect(sent.headerFields[.ifMatch] == "\"2\"")
        let third = Task { try await cart.put(Cart(items: ["3"]), .ifUnchanged, optimistically: { $0.items = ["3"] }) }
        await settled { cart.state.pending == 2 }
        shop.transport.on(.get, "/v1/cart").answer(json: Cart(items: ["theirs"]), headerFields: [.eTag: "\"3\""])
        try await cart.load()
        writes.answer(2, ScriptedAnswer(.noContent, headerFields: [.eTag: "\"4\""]))
        _ = try await second.value
        let last = try await shop.transport.request(number: 5)
        #expect(last.headerFields[.ifMatch] == "\"2\"")
        writes.answer(3, ScriptedAnswer(.preconditionFailed))
        await #expect(throws: RequestFailure.self) { try await third.value }
    }

    @Test("After 412 the change is removed and a load is started")
    func preconditionFailed() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let task = Task { try await cart.patch("b", .ifUnchanged, optimistically: { $0.items.append("b") }) }
        _ = try await shop.transport.request(number: 2)
        shop.transport.on(.get, "/v1/cart").answer(json: Cart(items: ["theirs"]), headerFields: [.eTag: "\"9\""])
        writes.answer(1, ScriptedAnswer(.preconditionFailed))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.status == .preconditionFailed)
        #expect(cart.state.pending == 0)
        await settled { cart.content == Cart(items: ["theirs"]) }
        #expect(shop.transport.requests.map(\.method) == [.get, .patch, .get])
    }
}
