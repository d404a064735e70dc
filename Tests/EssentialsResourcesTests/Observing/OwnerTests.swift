import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: observer objects", .leavesNothing)
struct OwnerTests {
    let fixture: ResourceFixture
    let item: Resource<Int>
    let log = EventLog()

    init() throws {
        fixture = try ResourceFixture()
        item = fixture.service.resource("item")
    }

    @Test("An observer without an owner receives changes until it is released")
    func ownsItself() {
        var observer: Listener? = Listener(log)
        if let observer { item.addObserver(observer) }
        item.override(with: 1)
        #expect(item.observerCount == 1)
        observer = nil
        item.override(with: 2)
        #expect(log.events == [.attached, .newContent(.local)])
        #expect(item.observerCount == 0)
        // It was itself released, so it cannot be notified.
        #expect(log.stops == 0)
    }

    @Test("An observer with an owner is kept until the owner is released, and is then notified")
    func owner() {
        var owner: Owner? = Owner()
        weak var observer: Listener?
        do {
            let own = Listener(log)
            observer = own
            item.addObserver(own, owner: owner)
        }
        #expect(observer != nil)
        item.override(with: 1)
        owner = nil
        item.override(with: 2)
        #expect(log.events == [.attached, .newContent(.local)])
        #expect(log.stops == 1)
        #expect(observer == nil)
    }

    @Test("An observer that is added twice with two owners receives each change once, until the last owner is released")
    func twoOwners() {
        var owners: [Owner] = [Owner(), Owner()]
        let observer = Listener(log)
        let tokens = owners.map { item.addObserver(observer, owner: $0) }
        #expect(tokens[0] == tokens[1])
        #expect(item.observerCount == 1)
        item.override(with: 1)
        #expect(log.events == [.attached, .newContent(.local)])
        owners.removeFirst()
        item.override(with: 2)
        #expect(log.events.count == 3)
        owners.removeFirst()
        item.override(with: 3)
        #expect(log.events.count == 3)
        #expect(log.stops == 1)
    }

    @Test(
        "An observer that also owns itself outlives its other owner only if it is held elsewhere",
        arguments: [true, false])
    func itselfAndAnother(isHeld: Bool) {
        var owner: Owner? = Owner()
        var observer: Listener? = Listener(log)
        weak var weakObserver: Listener?
        weakObserver = observer
        if let observer {
            item.addObserver(observer)
            item.addObserver(observer, owner: owner)
        }
        let held = isHeld ? observer : nil
        observer = nil
        #expect(weakObserver != nil)
        owner = nil
        item.override(with: 1)
        #expect((weakObserver != nil) == isHeld)
        #expect(log.events == (isHeld ? [.attached, .newContent(.local)] : [.attached]))
        #expect(item.observerCount == (isHeld ? 1 : 0))
        #expect(log.stops == 0)
        if let held { item.removeObservers(ownedBy: held) }
    }

    @Test("Removing an owner removes the observers without another owner")
    func removeByOwner() {
        let (first, second) = (Owner(), Owner())
        let (both, one) = (Listener(log), Listener(EventLog()))
        item.addObserver(both, owner: first)
        item.addObserver(both, owner: second)
        item.addObserver(one, owner: first)
        item.removeObservers(ownedBy: first)
        #expect(item.observerCount == 1)
        #expect(one.log.stops == 1)
        #expect(both.log.stops == 0)
        item.removeObservers(ownedBy: first)
        item.removeObservers(ownedBy: second)
        #expect(item.observerCount == 0)
        #expect(both.log.stops == 1)
    }

    @Test("An observer that is its own owner can be named as such, and is then held weakly")
    func namedItself() {
        var observer: Listener? = Listener(log)
        weak var weakObserver: Listener?
        weakObserver = observer
        if let observer { item.addObserver(observer, owner: observer) }
        observer = nil
        #expect(weakObserver == nil)
        #expect(item.observerCount == 0)
    }

    @Test("A token removes its observer with all owners, once")
    func token() {
        let (first, second) = (Owner(), Owner())
        let observer = Listener(log)
        let token = item.addObserver(observer, owner: first)
        item.addObserver(observer, owner: second)
        token.remove()
        #expect(item.observerCount == 0)
        #expect(log.stops == 1)
        item.addObserver(observer)
        token.remove()
        item.override(with: 1)
        #expect(log.events == [.attached, .attached, .newContent(.local)])
        #expect(log.stops == 1)
        item.removeObservers(ownedBy: observer)
    }

    @Test("Closures with one owner are distinguished by their tokens, and end with the owner")
    func closures() {
        var owner: Owner? = Owner()
        let other = EventLog()
        if let owner {
            let token = item.addObserver(owner: owner) { [log] in log.add($0.event, $0.state.version) }
            item.addObserver(owner: owner) { other.add($0.event, $0.state.version) }
            token.remove()
        }
        item.override(with: 1)
        owner = nil
        item.override(with: 2)
        #expect(log.events == [.attached])
        #expect(other.events == [.attached, .newContent(.local)])
    }

    @Test(
        "Looking up a resource releases the observers of released owners",
        arguments: ["resource", "count", "drop", "keep"])
    func lookUps(how: String) {
        var owner: Owner? = Owner()
        weak var observer: Listener?
        do {
            let own = Listener(log)
            observer = own
            item.addObserver(own, owner: owner)
        }
        owner = nil
        #expect(observer != nil)
        switch how {
        case "resource": _ = fixture.service.resource("item", as: Int.self)
        case "count": _ = item.observerCount
        case "drop": fixture.service.dropUnused()
        default: fixture.service.keepUnused(count: 1, bytes: 1)
        }
        #expect(observer == nil)
        #expect(log.stops == 1)
    }

    @Test("Adding observers to other resources releases those of released owners")
    func boundedGarbage() {
        for number in 0..<1_000 {
            let resource: Resource<Int> = fixture.service.resource("items/\(number)")
            resource.addObserver(Listener(EventLog()), owner: Owner())
        }
        fixture.service.dropUnused()
        #expect(fixture.service.resourceCount == 1)
        let owner = Owner()
        var observers: [() -> Listener?] = []
        for number in 0..<1_000 {
            let listener = Listener(EventLog())
            observers.append { [weak listener] in listener }
            let resource: Resource<Int> = fixture.service.resource("items/\(number)")
            resource.addObserver(listener, owner: number.isMultiple(of: 2) ? owner : Owner())
        }
        #expect(observers.count { $0() != nil } < 760)
    }

    @Test("Looking up new resources releases the observers of released owners, and their resources can then be dropped")
    func sweptByNewResources() throws {
        let fixture = try ResourceFixture { $0.maximumUnused = 10 }
        let (service, log) = (fixture.service, EventLog())
        var owners = (0..<100).map { _ in Owner() }
        for (number, owner) in owners.enumerated() {
            service.resource("owned/\(number)", as: Int.self).addObserver(Listener(log), owner: owner)
        }
        #expect(service.resourceCount == 100)
        owners = []
        for number in 0..<200 { _ = service.resource("new/\(number)", as: Int.self) }
        #expect(log.stops == 100)
        #expect(service.resourceCount <= 10)
    }

    @Test("A resource with an observer object is not dropped before its owner is released")
    func golden() {
        fixture.service.keepUnused(count: 0, bytes: 0)
        var owner: Owner? = Owner()
        weak var core: ResourceCore?
        do {
            let other: Resource<Int> = fixture.service.resource("other")
            other.override(with: 7)
            core = other.core
            other.addObserver(Listener(log), owner: owner)
        }
        fixture.service.dropUnused()
        #expect(core != nil)
        #expect(fixture.service.resource("other", as: Int.self).content == 7)
        owner = nil
        fixture.service.dropUnused()
        #expect(core == nil)
        #expect(log.stops == 1)
    }

    @Test("Observers do not keep a service alive, and an unclosed service leaves nothing")
    func serviceWithoutClose() throws {
        weak var service: HTTPResourceService?
        weak var observer: Listener?
        let owner = Owner()
        do {
            let other = try ResourceFixture()
            service = other.service
            let listener = Listener(log)
            observer = listener
            other.service.resource("item").addObserver(listener, owner: owner)
        }
        #expect(service == nil)
        #expect(observer == nil)
        withExtendedLifetime(owner) {}
    }

    @Test("Closing the service notifies observers, including those that are added later")
    func close() async {
        let observer = Listener(log)
        let owner = Owner()
        item.addObserver(observer, owner: owner)
        await fixture.service.close()
        #expect(log.stops == 1)
        #expect(item.observerCount == 0)
        item.addObserver(observer, owner: owner)
        #expect(log.stops == 2)
        #expect(item.observerCount == 0)
        withExtendedLifetime(owner) {}
    }

    @Test("An observer can leave, add observers and release owners while it receives a change")
    func reentrancy() {
        let owner = Mutex<Owner?>(Owner())
        let second = Listener(EventLog())
        let first = Listener(log) { [item] change, _ in
            guard change.state.content == 1 else { return }
            owner.withLock { $0 = nil }
            item.addObserver(second)
        }
        item.addObserver(first, owner: owner.withLock { $0 })
        item.override(with: 1)
        item.override(with: 2)
        #expect(log.events == [.attached, .newContent(.local)])
        #expect(log.stops == 1)
        #expect(second.log.events == [.attached, .newContent(.local)])
        item.removeObservers(ownedBy: second)
    }

    @Test("An observer that an earlier observer removes during a change receives nothing of that change")
    func removedDuringDelivery() {
        let token = Mutex<ObserverToken?>(nil)
        let first = Listener(EventLog()) { change, _ in
            if change.event == .newContent(.local) { token.withLock { $0 }?.remove() }
        }
        let second = Listener(log)
        item.addObserver(first)
        token.withLock { $0 = item.addObserver(second) }
        item.override(with: 1)
        #expect(log.events == [.attached])
        #expect(log.stops == 1)
        token.withLock { $0 = nil }
        item.removeObservers(ownedBy: first)
    }

    @Test("The end of the last owner's observer ends the loads that only observers need")
    func interest() async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        var owner: Owner? = Owner()
        item.addObserver(Listener(log), owner: owner)
        let task = Task { [item] in try? await item.load() }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        _ = await task.value
        #expect(item.isLoading)
        owner = nil
        #expect(item.observerCount == 0)
        #expect(!item.isLoading)
        latch.open()
    }

    @Test("Eight threads add, remove and change at once, and every observer is notified once that it has stopped")
    func concurrency() async {
        let logs = await withTaskGroup(of: [EventLog].self) { group in
            for thread in 0..<8 {
                group.addTask { [item] in
                    var logs: [EventLog] = []
                    for round in 0..<100 {
                        let log = EventLog()
                        logs.append(log)
                        let owner = Owner()
                        let observer = Listener(log)
                        let token = item.addObserver(observer, owner: owner)
                        item.addObserver(observer, owner: Owner())
                        item.override(with: round)
                        if (round + thread).isMultiple(of: 3) { token.remove() }
                        item.removeObservers(ownedBy: owner)
                    }
                    return logs
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(item.observerCount == 0)
        for log in logs {
            #expect(log.stops == 1)
            #expect(log.versions == log.versions.sorted())
        }
    }
}

/// Owns observers.
final class Owner: Sendable {}

/// Records the changes that an observer receives.
final class Listener: ResourceObserver {
    let log: EventLog
    private let body: @Sendable (ResourceChange<Int>, Resource<Int>) -> Void

    init(_ log: EventLog, _ body: @escaping @Sendable (ResourceChange<Int>, Resource<Int>) -> Void = { _, _ in }) {
        self.log = log
        self.body = body
    }

    func resourceChanged(_ change: ResourceChange<Int>, of resource: Resource<Int>) {
        log.add(change.event, change.state.version)
        body(change, resource)
    }

    func stoppedObserving(_ resource: Resource<Int>) { log.addStop() }
}
