import Dispatch
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@Suite("Resource: observers", .leavesNothing)
struct ObservingTests {
    @Test("A closure receives attached first, then each change with the state after it")
    func order() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""]).thenAnswer(.notModified)
            .thenAnswer(.internalServerError)
        let item: Resource<Item> = fixture.service.resource("item")
        let log = EventLog()
        let observation = item.observeSynchronously { change in log.add(change.event, change.state.version) }
        try await item.load()
        try await item.load()
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        item.override(with: Item(name: "b"))
        item.invalidate()
        item.wipe()
        observation.cancel()
        item.override(with: Item(name: "c"))
        #expect(
            log.events == [
                .attached, .requested, .newContent(.network), .requested, .notModified, .requested,
                .failed(try #require(failure)), .newContent(.local), .invalidated, .wiped(.requested),
            ])
        #expect(log.versions == log.versions.sorted())
        #expect(Set(log.versions).count == log.versions.count)
    }

    @Test("A change that an observer makes is delivered after the current one has reached all observers")
    func reentrancy() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        item.override(with: 0)
        let (first, second) = (EventLog(), EventLog())
        let one = item.observeSynchronously { change in
            first.add(change.event, UInt64(change.state.content ?? -1))
            if change.state.content == 1 { item.override(with: 2) }
        }
        let two = item.observeSynchronously { change in second.add(change.event, UInt64(change.state.content ?? -1)) }
        item.override(with: 1)
        #expect(first.versions == [0, 1, 2])
        #expect(second.versions == [0, 1, 2])
        one.cancel()
        two.cancel()
    }

    @Test("An observer that leaves during a change does not keep the next one from receiving it")
    func leavingDuringDelivery() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        let held = Mutex<ResourceObservation?>(nil)
        let first = item.observeSynchronously { change in
            if change.event == .newContent(.local) { held.withLock { $0.take() }?.cancel() }
        }
        let own = item.observeSynchronously { _ in }
        held.withLock { $0 = own }
        let last = item.observeSynchronously { change in log.add(change.event, change.state.version) }
        item.override(with: 1)
        #expect(log.events == [.attached, .newContent(.local)])
        first.cancel()
        last.cancel()
    }

    @Test("An observer that is added during a change receives attached with the newest state, and nothing twice")
    func addingDuringDelivery() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        let bag = ResourceObservations()
        item.observeSynchronously { change in
            guard change.state.content == 1 else { return }
            item.observeSynchronously { change in log.add(change.event, UInt64(change.state.content ?? 0)) }.store(
                in: bag)
        }.store(in: bag)
        item.override(with: 1)
        item.override(with: 2)
        #expect(log.events == [.attached, .newContent(.local)])
        #expect(log.versions == [1, 2])
        bag.cancelAll()
        #expect(bag.count == 0)
    }

    @Test("Dropping the last reference to an observation ends it")
    func droppedObservation() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        do {
            let observation = item.observeSynchronously { change in log.add(change.event, change.state.version) }
            item.override(with: 1)
            _ = observation
        }
        item.override(with: 2)
        #expect(log.events == [.attached, .newContent(.local)])
    }

    @Test("A closure is called on its queue, in order, and not after cancel has returned there")
    func queue() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        let log = EventLog()
        let observation = item.observe(on: queue) { change in
            dispatchPrecondition(condition: .onQueue(queue))
            log.add(change.event, UInt64(change.state.content ?? 0))
        }
        for number in 1...500 { item.override(with: number) }
        await log.waitFor(count: 501)
        #expect(log.versions == [0] + (1...500).map { UInt64($0) })
        observation.cancel()
        item.override(with: 501)
        queue.sync(flags: .barrier) {}
        #expect(log.versions.count == 501)
    }

    @MainActor
    @Test("An isolated closure is called on its actor, in order")
    func isolated() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        let observation = item.observe { @MainActor change in
            MainActor.assertIsolated()
            log.add(change.event, UInt64(change.state.content ?? 0))
        }
        for number in 1...100 { item.override(with: number) }
        await log.waitFor(count: 101)
        #expect(log.versions == [0] + (1...100).map { UInt64($0) })
        observation.cancel()
    }

    @Test("A closure of another global actor is called there, and the next call waits for the previous one")
    func otherActor() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        let running = Mutex(0)
        let observation = item.observe { @ScreenActor change in
            ScreenActor.assertIsolated()
            running.withLock { $0 += 1 }
            #expect(running.withLock { $0 } == 1)
            await Task.yield()
            running.withLock { $0 -= 1 }
            log.add(change.event, UInt64(change.state.content ?? 0))
        }
        for number in 1...100 { item.override(with: number) }
        await log.waitFor(count: 101)
        #expect(log.versions == [0] + (1...100).map { UInt64($0) })
        observation.cancel()
    }

    @Test("A slow observer finds the newest change, with the number of missed ones")
    func missed() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        let log = EventLog()
        let missed = Mutex(0)
        let observation = item.observe(on: queue) { change in
            missed.withLock { $0 += change.missed }
            log.add(change.event, UInt64(change.state.content ?? 0))
        }
        for number in 1...2_000 { item.override(with: number) }
        queue.resume()
        await log.waitFor(count: 1_024)
        #expect(log.versions.last == 2_000)
        #expect(missed.withLock { $0 } == 2_001 - 1_024)
        observation.cancel()
    }

    @Test("Observers keep a load running that no task waits for, and the last one ends it")
    func interest() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let observation = item.observeSynchronously { _ in }
        let task = Task { try? await item.load() }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        _ = await task.value
        #expect(item.isLoading)
        observation.cancel()
        #expect(!item.isLoading)
        latch.open()
    }

    @Test("Eight threads change and observe a resource, and every observer receives rising versions")
    func concurrency() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let logs = (0..<4).map { _ in EventLog() }
        let observations = logs.map { log in item.observeSynchronously { log.add($0.event, $0.state.version) } }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        item.override(with: number)
                        let own = item.observeSynchronously { _ in }
                        if number.isMultiple(of: 7) { item.invalidate() }
                        own.cancel()
                    }
                }
            }
        }
        let last = item.state.version
        for log in logs {
            await log.waitFor(version: last)
            #expect(log.versions == log.versions.sorted())
            #expect(Set(log.versions).count == log.versions.count)
        }
        for observation in observations { observation.cancel() }
    }
}

/// An actor that is not the main one.
@globalActor private actor ScreenActor {
    static let shared = ScreenActor()
}

/// Records events.
final class EventLog: Sendable {
    private struct State {
        var events: [ResourceEvent] = []
        var versions: [UInt64] = []
        var stops = 0
        var waiters: [(isDone: @Sendable ([UInt64]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var events: [ResourceEvent] { state.withLock { $0.events } }
    var versions: [UInt64] { state.withLock { $0.versions } }
    /// How often the observer was notified that it receives nothing more.
    var stops: Int { state.withLock { $0.stops } }

    func addStop() { state.withLock { $0.stops += 1 } }

    func add(_ event: ResourceEvent, _ version: UInt64) {
        let done = state.withLock { state in
            state.events.append(event)
            state.versions.append(version)
            let done = state.waiters.filter { $0.isDone(state.versions) }
            state.waiters.removeAll { $0.isDone(state.versions) }
            return done
        }
        for waiter in done { waiter.continuation.resume() }
    }

    func waitFor(count: Int) async { await wait { $0.count >= count } }
    func waitFor(version: UInt64) async { await wait { $0.last == version } }

    private func wait(_ isDone: @escaping @Sendable ([UInt64]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if isDone(state.versions) { return true }
                state.waiters.append((isDone, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
