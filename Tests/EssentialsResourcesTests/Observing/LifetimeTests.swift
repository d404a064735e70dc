import Dispatch
import EssentialsTestKit
import EssentialsTools
import Glibc
import Testing

@testable import EssentialsResources

@Suite("Resource: the end of observations", .leavesNothing)
struct LifetimeTests {
    let fixture: ResourceFixture

    init() throws { fixture = try ResourceFixture() }

    /// The ways to observe a resource and to abandon the observation.
    enum Observation: String, CaseIterable {
        case states, readStates, cancelledStates, changes, contents, statuses, slot, slotElements
        case synchronous, task, queue, bag, observer, owner, deadOwner, token
    }

    @Test("An abandoned observation leaves neither an observer nor the resource", arguments: Observation.allCases)
    func abandoned(observation: Observation) async {
        weak var core: ResourceCore?
        do {
            let item: Resource<Int> = fixture.service.resource("item")
            item.override(with: 1)
            core = item.core
            await observe(item, observation)
            fixture.service.dropUnused()
            // A queue or a task may still be delivering.
            while item.observerCount > 0 { await Task.yield() }
        }
        let limit = ContinuousClock.now + .seconds(20)
        repeat {
            await Task.yield()
            fixture.service.dropUnused()
        } while core != nil && ContinuousClock.now < limit
        #expect(core == nil)
        #expect(fixture.service.resourceCount == 0)
    }

    @Test("A cancelled closure no longer keeps the service alive, even if an observer object remains")
    func besideObject() throws {
        weak var service: HTTPResourceService?
        let owner = Owner()
        do {
            let ended = try ResourceFixture()
            service = ended.service
            let item: Resource<Int> = ended.service.resource("item")
            item.override(with: 1)
            item.addObserver(owner: owner) { _ in }
            let observations = [item.observeSynchronously { _ in }, item.observeSynchronously { _ in }]
            observations[0].cancel()
            #expect(item.core.reading { $0.observingService != nil })
            observations[1].cancel()
            #expect(item.core.reading { $0.observingService == nil })
            #expect(item.observerCount == 1)
        }
        // The task that follows the environment may hold it for a moment.
        let limit = ContinuousClock.now + .seconds(20)
        while service != nil, ContinuousClock.now < limit { sched_yield() }
        #expect(service == nil)
    }

    /// Begins an observation, and drops it.
    private func observe(_ item: Resource<Int>, _ observation: Observation) async {
        switch observation {
        case .states: _ = item.states.makeAsyncIterator()
        case .readStates:
            var states = item.states.makeAsyncIterator()
            _ = await states.next()
        case .cancelledStates:
            let task = Task { for await _ in item.states {} }
            while item.observerCount == 0 { await Task.yield() }
            task.cancel()
            await task.value
        case .changes:
            _ = item.changes().makeAsyncIterator()
            item.override(with: 2)
        case .contents: _ = item.contents.makeAsyncIterator()
        case .statuses: _ = ResourceStatus.of(item, item).makeAsyncIterator()
        case .slot: _ = ResourceSlot(item)
        case .slotElements: _ = ResourceSlot(item).elements.makeAsyncIterator()
        case .synchronous: _ = item.observeSynchronously { _ in _ = item }
        case .task: _ = item.observe { _ in _ = item }
        case .queue: _ = item.observe(on: DispatchQueue(label: "test")) { _ in _ = item }
        case .bag:
            let bag = ResourceObservations()
            item.observeSynchronously { _ in }.store(in: bag)
        case .observer: item.addObserver(Listener(EventLog()))
        case .owner:
            let owner = Owner()
            item.addObserver(Listener(EventLog()), owner: owner)
            item.removeObservers(ownedBy: owner)
        case .deadOwner: item.addObserver(Listener(EventLog()) { _, _ in _ = item }, owner: Owner())
        case .token: item.addObserver(Listener(EventLog()), owner: item.service).remove()
        }
    }

    #if DEBUG
        @Test("Objects are counted while they are alive, in the tasks of the counter")
        func counter() {
            let objects = LiveObjects()
            LiveObjects.$current.withValue(objects) {
                let item: Resource<Int> = fixture.service.resource("counted")
                let owner = Owner()
                item.addObserver(Listener(EventLog()), owner: owner)
                let observation = item.observeSynchronously { _ in }
                let reader = item.states.makeAsyncIterator()
                #expect(objects.counts == [.core: 1, .snapshot: 1, .observation: 1, .reader: 1, .ownedObserver: 1])
                _ = (observation, reader)
                observation.cancel()
                item.removeObservers(ownedBy: owner)
                #expect(objects.counts[.ownedObserver] == nil)
            }
            fixture.service.dropUnused()
            #expect(objects.counts.isEmpty)
        }
    #endif
}
