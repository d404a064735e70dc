import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: progress for observer objects", .leavesNothing)
struct OwnerProgressTests {
    /// Records events, and states whether it needs progress.
    private final class Reporter: ResourceObserver {
        let log = EventLog()
        private let reports: Atomic<Bool>
        /// How often the property was read.
        let questions = Atomic(0)

        init(reports: Bool) { self.reports = Atomic(reports) }

        var reportsProgress: Bool {
            questions.wrappingAdd(1, ordering: .relaxed)
            return reports.load(ordering: .relaxed)
        }

        func change(reports: Bool) { self.reports.store(reports, ordering: .relaxed) }

        func resourceChanged(_ change: ResourceChange<Item>, of resource: Resource<Item>) {
            log.add(change.event, change.state.version)
        }
    }

    private func hasProgress(_ log: EventLog) -> Bool {
        log.events.contains { if case .progress = $0 { true } else { false } }
    }

    /// Loads a resource in about 100 ms of the clock.
    private func load(_ item: Resource<Item>, _ fixture: ResourceFixture) async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), after: .milliseconds(130))
        item.startLoad()
        while item.isLoading {
            fixture.clock.advanceToNextDeadline()
            await Task.yield()
        }
        while item.isNotifying { await Task.yield() }
    }

    @Test("An observer object that requests progress receives it up to 1 before the content, and others do not")
    func observers() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let (asking, ordinary, owner) = (Reporter(reports: true), Reporter(reports: false), Owner())
        let (closure, plain) = (EventLog(), EventLog())
        item.addObserver(asking)
        item.addObserver(ordinary, owner: owner)
        item.addObserver(owner: owner, reportingProgress: true) { closure.add($0.event, $0.state.version) }
        item.addObserver(owner: owner) { plain.add($0.event, $0.state.version) }
        try await load(item, fixture)
        for log in [asking.log, closure] {
            #expect(log.events.count > 4 && log.events.prefix(2) == [.attached, .requested])
            #expect(log.events.suffix(2) == [.progress(1), .newContent(.network)])
        }
        #expect(ordinary.log.events == [.attached, .requested, .newContent(.network)])
        #expect(plain.events == ordinary.log.events)
        item.removeObservers(ownedBy: owner)
        item.removeObservers(ownedBy: asking)
    }

    @Test("Without an observer object that requests progress, no load is measured")
    func unmeasured() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let asking = Reporter(reports: true)
        item.addObserver(asking).remove()
        let ordinary = Reporter(reports: false)
        item.addObserver(ordinary)
        let gate = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await gate.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        #expect(fixture.clock.sleeperCount == 0 && item.state.progress == nil)
        gate.open()
        _ = try await load.content
        #expect(!hasProgress(ordinary.log) && !hasProgress(asking.log))
        item.removeObservers(ownedBy: ordinary)
    }

    @Test("Whether an observer object needs progress is read once for each resource")
    func asksOnce() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let asking = Reporter(reports: true)
        item.addObserver(asking)
        asking.change(reports: false)
        try await load(item, fixture)
        #expect(hasProgress(asking.log))
        #expect(asking.questions.load(ordering: .relaxed) == 1)
        item.removeObservers(ownedBy: asking)
        #expect(item.observerCount == 0)
    }
}
