import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resource: sequences", .leavesNothing)
struct SequenceTests {
    @Test("States begin with the current one, and a slow reader finds only the newest")
    func states() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        item.override(with: 1)
        var states = item.states.makeAsyncIterator()
        #expect(await states.next()?.content == 1)
        for number in 2...50 { item.override(with: number) }
        #expect(await states.next()?.content == 50)
        let waiting = Task { () -> Int? in
            var states = item.states.makeAsyncIterator()
            _ = await states.next()
            return await states.next()?.content
        }
        while !waiting.isCancelled, item.observerCount < 2 { await Task.yield() }
        // Changes until the reader has one, because it may begin before or after the first of them.
        let changing = Task { while !Task.isCancelled { item.update { $0 += 1 }; await Task.yield() } }
        #expect(await waiting.value ?? 0 > 50)
        changing.cancel()
    }

    @Test("A cancelled task ends its sequence, and leaves the resource")
    func cancellation() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let task = Task {
            var count = 0
            for await _ in item.states { count += 1 }
            return count
        }
        while item.observerCount == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value <= 1)
        #expect(item.observerCount == 0)
    }

    @Test("Closing the service ends all sequences")
    func close() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let task = Task {
            for await _ in item.states {}
            for await _ in item.changes() {}
            return true
        }
        while item.observerCount == 0 { await Task.yield() }
        await fixture.service.close()
        #expect(await task.value)
    }

    @Test("All changes are read in order, and those over the limit are counted")
    func changes() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        var changes = item.changes(buffering: .all(upTo: 4)).makeAsyncIterator()
        for number in 1...3 { item.override(with: number) }
        #expect(await changes.next()?.event == .attached)
        #expect(await changes.next()?.state.content == 1)
        for number in 4...9 { item.override(with: number) }
        let next = await changes.next()
        #expect(next?.state.content == 6)
        #expect(next?.missed == 4)
        #expect(await changes.next()?.missed == 0)
    }

    @Test("Contents skip equal values and failures")
    func contents() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        item.override(with: 1)
        var contents = item.contents.makeAsyncIterator()
        #expect(await contents.next() == 1)
        item.override(with: 1)
        item.invalidate()
        item.override(with: 2)
        #expect(await contents.next() == 2)
    }

    @Test("States with loading load the resource once, and the content arrives")
    func loading() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        for await state in item.states(loading: .ifNeeded) where state.content != nil {
            #expect(state.content?.name == "a")
            break
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(item.observerCount == 0)
    }

    @Test("A resource with an observer is never dropped, unlike one without")
    func golden() async throws {
        let fixture = try ResourceFixture()
        fixture.service.keepUnused(count: 0, bytes: 0)
        let states = fixture.service.resource("observed", as: Int.self).states
        var reader = Optional(states.makeAsyncIterator())
        fixture.service.resource("observed", as: Int.self).override(with: 7)
        fixture.service.resource("dropped", as: Int.self).override(with: 8)
        fixture.service.dropUnused()
        #expect(fixture.service.resource("observed", as: Int.self).content == 7)
        #expect(fixture.service.resource("dropped", as: Int.self).content == nil)
        #expect(await reader?.next()?.content == 7)
        reader = nil
    }
}
