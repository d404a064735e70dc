import Dispatch
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import Glibc
import Testing

@Suite("Resource: cancelling observations", .leavesNothing)
struct CancellingTests {
    let fixture: ResourceFixture
    let item: Resource<Int>
    let log = EventLog()
    let observations = ResourceObservations()

    init() throws {
        fixture = try ResourceFixture()
        item = fixture.service.resource("item")
    }

    /// Observes the resource on a queue that delivers nothing before ten changes wait.
    ///
    /// - Parameter prepare: Puts work on the queue before the observation.
    private func changeWhileSuspended(
        _ prepare: (DispatchQueue) -> Void = { _ in }, _ body: @escaping @Sendable (ResourceChange<Int>) -> Void
    ) {
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        prepare(queue)
        item.observe(on: queue, body).store(in: observations)
        for number in 1...10 { item.override(with: number) }
        queue.resume()
        queue.sync {}
    }

    @Test("Cancelling an observation on its queue before the waiting changes drops them")
    func queue() {
        changeWhileSuspended { queue in
            queue.async { [observations] in observations.cancelAll() }
        } _: { [log] change in
            log.add(change.event, change.state.version)
        }
        #expect(log.events == [])
        #expect(item.observerCount == 0)
    }

    @Test("A closure that cancels its observation on its queue receives no waiting change")
    func queueFromInside() {
        changeWhileSuspended { [log, observations] change in
            log.add(change.event, change.state.version)
            observations.cancelAll()
        }
        #expect(log.events == [.attached])
        #expect(item.observerCount == 0)
    }

    @MainActor
    @Test("Cancelling an observation on its actor while changes wait drops them")
    func isolated() async {
        let (cancelled, other) = (log, EventLog())
        // This is repeated, because the task of an observation may begin late on a busy machine.
        for round in 1...10 {
            let observation = item.observe { @MainActor change in cancelled.add(change.event, change.state.version) }
            for number in 1...10 { item.override(with: round * 10 + number) }
            // The actor was not free yet, so all changes still wait, although their task has had time to begin.
            usleep(10_000)
            observation.cancel()
        }
        let later = item.observe { @MainActor change in other.add(change.event, change.state.version) }
        await other.waitFor(count: 1)
        for _ in 0..<100 { await Task.yield() }
        #expect(cancelled.events == [])
        later.cancel()
    }
}

@Suite("Resource: waiting changes", .leavesNothing)
struct BoundedChangesTests {
    @Test("At most 1,024 changes of a resource wait, and the newest one counts the missed ones")
    func limit() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        item.override(with: 0)
        let log = EventLog()
        let missed = Mutex<[Int]>([])
        let observation = item.observeSynchronously { change in
            log.add(change.event, UInt64(change.state.content ?? -1))
            missed.withLock { $0.append(change.missed) }
            guard change.event == .attached else { return }
            // They are delivered after this call has returned.
            for number in 1...2_000 { item.override(with: number) }
        }
        let contents: [UInt64] = Array(0...1_023) + [2_000]
        let counts: [Int] = Array(repeating: 0, count: 1_024) + [2_000 - 1_024]
        #expect(log.versions == contents)
        #expect(missed.withLock { $0 } == counts)
        // The count begins again.
        item.override(with: 2_001)
        #expect(log.versions.last == 2_001)
        #expect(missed.withLock { $0.last } == 0)
        observation.cancel()
    }
}
