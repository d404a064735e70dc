import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource slot", .leavesNothing, .timeLimit(.minutes(5)))
struct ResourceSlotTests {
    let fixture: ResourceFixture
    let first: Resource<Int>
    let second: Resource<Int>
    let latch = Latch()

    init() throws {
        fixture = try ResourceFixture()
        first = fixture.service.resource("first")
        second = fixture.service.resource("second")
        fixture.transport.on(.get, "/v1/first").answer { [latch] _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        fixture.transport.on(.get, "/v1/second").answer(.notFound)
    }

    @Test("Content that is in memory is in the first element, and nothing is loaded if it is fresh")
    func inMemory() async {
        first.override(with: 7)
        let slot = ResourceSlot(first)
        var elements = slot.elements.makeAsyncIterator()
        #expect(await elements.next() == .content(7))
        #expect(fixture.transport.requestCount == 0)
        #expect(slot.current == .content(7))
        #expect(slot.resource == first)
    }

    @Test("Assigning loads if needed, and shows the placeholder until the content is there")
    func loads() async {
        let slot = ResourceSlot<Int>()
        var elements = slot.elements.makeAsyncIterator()
        #expect(await elements.next() == .placeholder)
        slot.resource = first
        #expect(slot.current == .placeholder)
        latch.open()
        // The placeholder is not repeated.
        #expect(await elements.next() == .content(1))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("With neither content nor a load the alternative is shown, and nil shows the placeholder")
    func alternative() async {
        let slot = ResourceSlot(second)
        var elements = slot.elements.makeAsyncIterator()
        var element = await elements.next()
        if element == .placeholder { element = await elements.next() }
        guard case .alternative(let failure) = element else {
            Issue.record("\(String(describing: element))")
            return
        }
        #expect(failure?.status == .notFound)
        #expect(element?.value(placeholder: 1, alternative: 2) == 2)
        slot.resource = nil
        #expect(await elements.next() == .placeholder)
        slot.resource = first
        first.cancelLoads()
        #expect(await elements.next() == .alternative(nil))
        first.override(with: 3)
        #expect(await elements.next() == .content(3))
        latch.open()
    }

    @Test("Content stays while it is loaded again, and after a failure")
    func keepsContent() async {
        second.override(with: 5)
        second.invalidate()
        let slot = ResourceSlot(second)
        var elements = slot.elements.makeAsyncIterator()
        #expect(await elements.next() == .content(5))
        while second.isLoading, !Task.isCancelled { await Task.yield() }
        #expect(second.state.failure != nil)
        #expect(slot.current == .content(5))
        second.override(with: 6)
        #expect(await elements.next() == .content(6))
    }

    @Test("The load of the previous resource is cancelled after 50 ms")
    func cancelsOld() async throws {
        let slot = ResourceSlot(first)
        _ = try await fixture.transport.request(number: 1)
        slot.resource = nil
        #expect(first.observerCount == 0)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(49))
        #expect(first.isLoading)
        fixture.clock.advance(by: .milliseconds(1))
        while first.isLoading, !Task.isCancelled { await Task.yield() }
        #expect(first.state.failure == nil)
        latch.open()
    }

    @Test("Another slot that takes the resource over in time keeps its load")
    func takeOver() async throws {
        let slot = ResourceSlot(first)
        _ = try await fixture.transport.request(number: 1)
        slot.resource = nil
        await fixture.clock.waitForSleepers(count: 1)
        let other = ResourceSlot(first)
        fixture.clock.advance(by: .seconds(1))
        while fixture.clock.sleeperCount > 0, !Task.isCancelled { await Task.yield() }
        latch.open()
        for await element in other.elements where element != .placeholder {
            #expect(element == .content(1))
            break
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A slot that is released leaves its resource")
    func released() async {
        weak var weakSlot: ResourceSlot<Int>?
        do {
            let slot = ResourceSlot(first)
            weakSlot = slot
            #expect(first.observerCount == 1)
        }
        #expect(weakSlot == nil)
        #expect(first.observerCount == 0)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(50))
        while first.isLoading, !Task.isCancelled { await Task.yield() }
        latch.open()
    }

    @Test("Several readers each find every element that is new to them, and end with their tasks")
    func readers() async {
        first.override(with: 1)
        let slot = ResourceSlot(first)
        var (one, two) = (slot.elements.makeAsyncIterator(), slot.elements.makeAsyncIterator())
        #expect(await one.next() == .content(1))
        first.override(with: 2)
        #expect(await one.next() == .content(2))
        #expect(await two.next() == .content(2))
        let task = Task {
            var count = 0
            for await _ in slot.elements { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value <= 1)
    }

    @Test("Assignments from several threads leave one observer")
    func concurrency() async {
        for resource in [first, second] { resource.override(with: 0) }
        let slot = ResourceSlot<Int>()
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask { [first, second] in
                    for round in 0..<100 { slot.resource = (round + thread).isMultiple(of: 2) ? first : second }
                }
            }
        }
        #expect(first.observerCount + second.observerCount == 1)
        #expect(slot.resource?.observerCount == 1)
        slot.resource = nil
        #expect(first.observerCount + second.observerCount == 0)
    }
}
