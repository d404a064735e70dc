import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@Suite("Resource: optimistic changes", .leavesNothing, .timeLimit(.minutes(5)))
struct OptimisticTests {
    @Test("An optimistic change is shown at once, counted as pending, and reported as layered")
    func shownAtOnce() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        var changes = shop.cart.changes().makeAsyncIterator()
        _ = await changes.next()
        async let write = shop.cart.patch("b", optimistically: { $0.items.append("b") })
        let layered = await changes.next()
        #expect(layered?.event == .layered)
        #expect(layered?.state.content == Cart(items: ["a", "b"]))
        #expect(layered?.state.pending == 1)
        #expect(layered?.state.provenance == .optimistic)
        #expect(layered?.state.description.contains("1 pending") == true)
        #expect(layered?.state.isFresh == true)
        writes.answer(1)
        _ = try await write
        let settled = await changes.next()
        #expect(settled?.event == .newContent(.local))
        #expect(settled?.state.content == Cart(items: ["a", "b"]))
        #expect(settled?.state.pending == 0)
    }

    @Test("A failure removes its own change, leaves the others, and is reported as undone")
    func undone() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        var changes = shop.cart.changes().makeAsyncIterator()
        _ = await changes.next()
        let first = Task { try await shop.cart.patch("b", .concurrent, optimistically: { $0.items.append("b") }) }
        _ = await changes.next()
        _ = try await shop.transport.request(number: 2)
        async let second = shop.cart.patch("c", .concurrent, optimistically: { $0.items.append("c") })
        _ = await changes.next()
        _ = try await shop.transport.request(number: 3)
        #expect(shop.cart.content == Cart(items: ["a", "b", "c"]))
        writes.answer(1, ScriptedAnswer(.conflict))
        await #expect(throws: RequestFailure.self) { try await first.value }
        let undone = await changes.next()
        guard case .undone(let failure) = undone?.event else {
            Issue.record("The event is \(String(describing: undone?.event)).")
            return
        }
        #expect(failure.status == .conflict)
        #expect(undone?.state.content == Cart(items: ["a", "c"]))
        #expect(undone?.state.pending == 1)
        #expect(undone?.state.failure == nil)
        writes.answer(2)
        _ = try await second
        #expect(shop.cart.content == Cart(items: ["a", "c"]))
    }

    @Test(
        "Undoing the second change does not forget the first, in any order of the responses", arguments: [true, false])
    func undoingSecond(secondFirst: Bool) async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        async let first = shop.cart.patch("b", .concurrent, optimistically: { $0.items.append("b") })
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await shop.cart.patch("c", .concurrent, optimistically: { $0.items.append("c") }) }
        _ = try await shop.transport.request(number: 3)
        if !secondFirst {
            writes.answer(1)
            _ = try await first
        }
        writes.answer(2, ScriptedAnswer(.internalServerError))
        await #expect(throws: RequestFailure.self) { try await second.value }
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        if secondFirst {
            #expect(shop.cart.state.pending == 1)
            writes.answer(1)
            _ = try await first
        }
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.state.pending == 0)
    }

    @Test("The response to a load that began before an edit does not revert the edit")
    func loadBeneath() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let latch = Latch()
        shop.transport.on(.get, "/v1/cart", query: .text("late")).answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Cart(items: ["late"]))
        }
        async let load = shop.cart.load(using: DataRequest(.get, "cart?late"))
        _ = try await shop.transport.request(number: 2)
        async let write = shop.cart.patch("b", optimistically: { $0.items.append("b") })
        _ = try await shop.transport.request(number: 3)
        // The load ends while the change is pending: the content below it changes, and the change stays.
        latch.open()
        #expect(try await load == Cart(items: ["late"]))
        #expect(shop.cart.content == Cart(items: ["late", "b"]))
        #expect(shop.cart.state.pending == 1)
        writes.answer(1)
        _ = try await write
        #expect(shop.cart.content == Cart(items: ["late", "b"]))
    }

    @Test("The response to a load that began before the success of an edit arrives too late to revert it")
    func lateLoad() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let latch = Latch()
        shop.transport.on(.get, "/v1/cart", query: .text("late")).answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Cart(items: ["late"]))
        }
        async let write = shop.cart.patch("b", optimistically: { $0.items.append("b") })
        _ = try await shop.transport.request(number: 2)
        async let load = shop.cart.load(using: DataRequest(.get, "cart?late"))
        _ = try await shop.transport.request(number: 3)
        writes.answer(1)
        _ = try await write
        latch.open()
        #expect(try await load == Cart(items: ["late"]))
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("A 304 beneath a pending change confirms the content of the server and returns it")
    func notModified() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        shop.transport.on(.get, "/v1/cart", headerFields: [.ifNoneMatch: "\"1\""]).answer(.notModified)
        let write = Task { try await shop.cart.patch("b", optimistically: { $0.items.append("b") }) }
        _ = try await shop.transport.request(number: 2)
        #expect(try await shop.cart.load() == Cart(items: ["a"]))
        #expect(shop.transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        writes.answer(1, ScriptedAnswer(.conflict))
        await #expect(throws: RequestFailure.self) { try await write.value }
        #expect(shop.cart.content == Cart(items: ["a"]))
    }

    @Test("Overrides and updates change the content beneath pending changes")
    func overrideBeneath() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let write = Task { try await shop.cart.patch("b", optimistically: { $0.items.append("b") }) }
        _ = try await shop.transport.request(number: 2)
        shop.cart.override(with: Cart(items: ["x"]))
        #expect(shop.cart.content == Cart(items: ["x", "b"]))
        let seen = Mutex<[Cart]>([])
        shop.cart.update { cart in
            seen.withLock { $0.append(cart) }
            cart.items.append("y")
        }
        #expect(seen.withLock { $0 } == [Cart(items: ["x"])])
        #expect(shop.cart.content == Cart(items: ["x", "y", "b"]))
        #expect(shop.cart.state.pending == 1)
        writes.answer(1, ScriptedAnswer(.conflict))
        await #expect(throws: RequestFailure.self) { try await write.value }
        #expect(shop.cart.content == Cart(items: ["x", "y"]))
    }

    @Test("Views with another content type show the content of the server, and the new one after a success")
    func otherViews() async throws {
        let shop = try await CartFixture()
        let text: Resource<String> = shop.cart.resource()
        try await shop.cart.load()
        let writes = HeldWrites(shop)
        async let write = shop.cart.patch("b", optimistically: { $0.items.append("b") })
        _ = try await shop.transport.request(number: 3)
        #expect(text.content == #"{"items":["a"]}"#)
        #expect(text.state.pending == 0)
        #expect(text.state.provenance == .network)
        #expect(shop.cart.state.pending == 1)
        async let other = text.patch("x", optimistically: { $0 += "!" })
        await settled { text.state.pending == 1 }
        #expect(text.content == #"{"items":["a"]}!"#)
        writes.answer(1)
        writes.answer(2)
        _ = try await (write, other)
        #expect(text.content == #"{"items":["a"]}!"#)
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
    }

    @Test("A change of a resource without content waits for content")
    func withoutContent() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        shop.cart.wipe()
        async let write = shop.cart.patch("b", optimistically: { $0.items.append("b") })
        _ = try await shop.transport.request(number: 2)
        #expect(shop.cart.content == nil)
        #expect(shop.cart.state.provenance == nil)
        #expect(try await shop.cart.load() == Cart(items: ["a"]))
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        writes.answer(1)
        _ = try await write
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
    }

    @Test("A change is called again whenever the content below it changes, and never under a lock")
    func calledAgain() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let calls = Mutex(0)
        async let write = shop.cart.patch("b") { cart in
            calls.withLock { $0 += 1 }
            // Reading the state takes the lock of the resource.
            cart.items.append("\(shop.cart.content?.items.count ?? 0)")
        }
        _ = try await shop.transport.request(number: 2)
        let before = calls.withLock { $0 }
        shop.cart.override(with: Cart(items: ["x"]))
        #expect(calls.withLock { $0 } > before)
        writes.answer(1)
        _ = try await write
        #expect(shop.cart.content == Cart(items: ["x", "2"]))
    }

    @Test("A cancelled write removes its change")
    func cancelled() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let task = Task { try await cart.patch("b", optimistically: { $0.items.append("b") }) }
        _ = try await shop.transport.request(number: 2)
        #expect(shop.cart.state.pending == 1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(shop.cart.state.pending == 0)
        #expect(shop.cart.any.runningRequests.isEmpty)
        writes.answer(1)
    }

    @Test("The 65th change at the same time fails before anything is sent or shown")
    func limit() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        await withTaskGroup { group in
            for index in 0..<64 {
                group.addTask { _ = try? await cart.patch("b", optimistically: { $0.items.append("\(index)") }) }
            }
            await settled { cart.state.pending == 64 }
            let count = shop.transport.requestCount
            let version = cart.state.version
            await expectFailure(.resources) {
                try await cart.patch("b", optimistically: { $0.items.append("x") })
            }
            #expect(cart.state.version == version)
            #expect(shop.transport.requestCount <= max(count, 2))
            for number in 1...64 { writes.answer(number) }
        }
        #expect(cart.state.pending == 0)
        #expect(Set(cart.content?.items ?? []).count == 65)
    }
}
