import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Testing

@testable import EssentialsResources

@Suite("Resource: changes of an account or environment that was left", .leavesNothing)
struct LeftAccountTests {
    /// How an account or environment is left without waiting.
    enum Exit: CaseIterable { case partition, environment }

    let fixture: ResourceFixture
    let item: Resource<Int>
    let log = StateLog()
    let observations = ResourceObservations()

    init() throws {
        fixture = try ResourceFixture()
        item = fixture.service.resource("item")
    }

    private static func leave(_ fixture: ResourceFixture, by exit: Exit) throws -> WipeReason {
        switch exit {
        case .partition:
            fixture.service.enter("bob")
            return .partition
        case .environment:
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/v1/")))
            _ = fixture.service.resource("item", as: Int.self)
            return .environment
        }
    }

    @Test(
        "When an observer leaves the account during a change, observers that have not received the change never do",
        arguments: Exit.allCases)
    func synchronously(exit: Exit) throws {
        let reason: WipeReason = exit == .partition ? .partition : .environment
        let owner = Owner()
        item.observeSynchronously { [fixture] change in
            guard case .newContent = change.event else { return }
            #expect(throws: Never.self) { _ = try Self.leave(fixture, by: exit) }
        }.store(in: observations)
        // More than one batch of observers.
        for _ in 0..<100 {
            item.observeSynchronously { [log] change in log.add(change) }.store(in: observations)
        }
        let closureToken = item.addObserver(owner: owner) { [log] change in log.add(change) }
        item.override(with: 1)
        #expect(log.count(of: .attached) == 101)
        #expect(log.count(of: .wiped(reason)) == 101)
        #expect(log.events.count == 202)
        #expect(log.contents.isEmpty)
        closureToken.remove()
    }

    @Test("After a logout has returned, observers that another thread was about to call receive no earlier change")
    func logout() async throws {
        let (arrived, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        item.observeSynchronously { change in
            guard case .newContent = change.event else { return }
            arrived.signal()
            opened.wait()
        }.store(in: observations)
        item.observeSynchronously { [log] change in log.add(change) }.store(in: observations)
        let queue = DispatchQueue(label: "change")
        queue.async { [item] in item.override(with: 1) }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "wait").async {
                arrived.wait()
                continuation.resume()
            }
        }
        await fixture.requests.clearAuthorization()
        opened.signal()
        queue.sync {}
        #expect(log.events == [.attached, .wiped(.authorization)])
        #expect(log.contents.isEmpty)
    }

    @Test("A logout wipes all resources of the origin before it calls the first observer")
    func wipesFirst() async throws {
        let other: Resource<Int> = fixture.service.resource("other")
        let seen = Mutex<[Int?]>([])
        for (resource, neighbour) in [(item, other), (other, item)] {
            resource.override(with: 1)
            resource.observeSynchronously { change in
                if change.event == .wiped(.authorization) { seen.withLock { $0.append(neighbour.content) } }
            }.store(in: observations)
        }
        await fixture.requests.clearAuthorization()
        #expect(seen.withLock { $0 } == [nil, nil])
    }

    @Test("An observer whose first event is delivered after the account was left begins without content")
    func attached() {
        item.override(with: 1)
        item.observeSynchronously { [fixture, item, log, observations] change in
            guard change.event == .attached else { return }
            item.observeSynchronously { change in log.add(change) }.store(in: observations)
            fixture.service.enter("bob")
        }.store(in: observations)
        #expect(log.events == [.attached, .wiped(.partition)])
        #expect(log.contents.isEmpty)
        // The closure holds the collection that holds its observation.
        observations.cancelAll()
    }

    @Test("Changes that wait for a queue when the account is left are not delivered on it", arguments: Exit.allCases)
    func queue(exit: Exit) throws {
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        item.override(with: 1)
        item.observe(on: queue) { [log] change in log.add(change) }.store(in: observations)
        item.override(with: 2)
        let reason = try Self.leave(fixture, by: exit)
        item.override(with: 3)
        queue.resume()
        queue.sync {}
        #expect(log.events == [.attached, .wiped(reason), .newContent(.local)])
        #expect(log.contents == [3])
    }

    @MainActor
    @Test("Changes that wait for an actor when the account is left are not delivered on it")
    func isolated() async {
        item.override(with: 1)
        item.observe { @MainActor [log] change in log.add(change) }.store(in: observations)
        item.override(with: 2)
        fixture.service.enter("bob")
        item.override(with: 3)
        await log.wait { $0.contains(3) }
        #expect(log.events == [.attached, .wiped(.partition), .newContent(.local)])
        #expect(log.contents == [3])
    }

    @Test("Sequences return no state that was waiting when the account was left", arguments: Exit.allCases)
    func sequences(exit: Exit) async throws {
        item.override(with: 1)
        var changes = item.changes().makeAsyncIterator()
        var states = item.states().makeAsyncIterator()
        var contents = item.contents.makeAsyncIterator()
        item.override(with: 2)
        let reason = try Self.leave(fixture, by: exit)
        let (first, second) = (await changes.next(), await changes.next())
        #expect(first?.event == .attached && first?.state.content == nil)
        #expect(second?.event == .wiped(reason) && second?.missed == 0)
        #expect(await states.next()?.content == nil)
        item.override(with: 3)
        #expect(await contents.next() == 3)
        while let change = await changes.next() {
            guard let content = change.state.content else { continue }
            #expect(content == 3)
            break
        }
    }

    @Test("A resource that was merged with another one delivers no earlier change on the queue of its observers")
    func merged() throws {
        let other: Resource<Int> = fixture.service.resource(url: "https://other/v1/item")
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        for resource in [item, other] {
            resource.override(with: 1)
            resource.observe(on: queue) { [log] change in log.add(change) }.store(in: observations)
            resource.override(with: 2)
        }
        _ = try Self.leave(fixture, by: .environment)
        queue.resume()
        queue.sync {}
        #expect(log.contents.isEmpty)
        #expect(log.count(of: .wiped(.environment)) == 2)
        // The observer that moved is attached to the other resource as well.
        #expect(log.count(of: .attached) == 3)
    }

    @Test("The progress that a load reaches when the account is left is delivered without content")
    func progress() async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: 2, after: .seconds(1))
        item.override(with: 1)
        let queue = DispatchQueue(label: "test")
        queue.suspend()
        item.observe(on: queue, reportingProgress: true) { [log] change in log.add(change) }.store(in: observations)
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        fixture.service.enter("bob")
        queue.resume()
        queue.sync {}
        #expect(log.events.suffix(2) == [.progress(1), .wiped(.partition)])
        #expect(log.contents.isEmpty)
        await #expect(throws: RequestFailure.self) { try await load.content }
    }

    @Test("A target that is found while the account is left is not shown with the old source")
    func dependent() async {
        item.override(with: 1)
        let target: Resource<Int> = fixture.service.resource("target")
        let dependent = item.then { [fixture] _ in
            fixture.service.enter("bob")
            return target
        }
        var states = dependent.states.makeAsyncIterator()
        let state = await states.next()
        #expect(state?.source.content == nil && state?.target == nil)
    }
}

@Suite("Resource: observers that are removed during a delivery", .leavesNothing)
struct RemovedObserverTests {
    let fixture: ResourceFixture
    let item: Resource<Int>
    let log = StateLog()

    init() throws {
        fixture = try ResourceFixture()
        item = fixture.service.resource("item")
    }

    @Test("A closure that an earlier observer of the same event cancels is not called")
    func closures() {
        let later = ResourceObservations()
        let first = item.observeSynchronously { change in
            if case .newContent = change.event { later.cancelAll() }
        }
        for _ in 0..<100 { item.observeSynchronously { [log] change in log.add(change) }.store(in: later) }
        let last = item.observeSynchronously { [log] change in log.add(change) }
        item.override(with: 1)
        #expect(log.contents == [1])
        #expect(log.count(of: .attached) == 101)
        withExtendedLifetime((first, last)) {}
    }

    @Test("An observer object that an earlier observer of the same event removes is not called")
    func objects() {
        let owner = Owner()
        let tokens = Mutex<[ObserverToken]>([])
        let first = item.observeSynchronously { change in
            guard case .newContent = change.event else { return }
            for token in tokens.withLock({ $0 }) { token.remove() }
        }
        for _ in 0..<3 {
            let token = item.addObserver(owner: owner) { [log] change in log.add(change) }
            tokens.withLock { $0.append(token) }
        }
        item.override(with: 1)
        #expect(log.events == [.attached, .attached, .attached])
        withExtendedLifetime(first) {}
    }

    @Test("Ten thousand observers that each cancel themselves at the first change receive it once")
    func many() {
        let observations = Mutex<[Int: ResourceObservation]>([:])
        for number in 0..<10_000 {
            let observation = item.observeSynchronously { [log] change in
                guard case .newContent = change.event else { return }
                log.add(change)
                observations.withLock { $0.removeValue(forKey: number) }?.cancel()
            }
            observations.withLock { $0[number] = observation }
        }
        item.override(with: 1)
        item.override(with: 2)
        #expect(log.contents.count == 10_000 && log.contents.allSatisfy { $0 == 1 })
        #expect(item.observerCount == 0)
    }
}

/// Records the changes that observers receive, except those of loads.
final class StateLog: Sendable {
    private struct State {
        var events: [ResourceEvent] = []
        var contents: [Int] = []
        var waiters: [(isDone: @Sendable ([Int]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var events: [ResourceEvent] { state.withLock { $0.events } }
    /// The contents of the states that had content.
    var contents: [Int] { state.withLock { $0.contents } }

    func count(of event: ResourceEvent) -> Int { events.count { $0 == event } }

    func add(_ change: ResourceChange<Int>) {
        // Observed resources are loaded again after the change.
        switch change.event {
        case .attached, .newContent, .progress, .wiped: break
        default: return
        }
        let done = state.withLock { state in
            state.events.append(change.event)
            if let content = change.state.content { state.contents.append(content) }
            let done = state.waiters.filter { $0.isDone(state.contents) }
            state.waiters.removeAll { $0.isDone(state.contents) }
            return done
        }
        for waiter in done { waiter.continuation.resume() }
    }

    /// Waits until the contents fulfil a condition.
    func wait(until isDone: @escaping @Sendable ([Int]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if isDone(state.contents) { return true }
                state.waiters.append((isDone, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
