import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: polling", .leavesNothing)
struct PollingTests {
    let fixture: ResourceFixture
    let item: Resource<Int>

    init() throws {
        fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: 7)
        item = fixture.service.resource("item")
    }

    private var clock: ManualClock { fixture.clock }
    private var timer: PollingTimer { fixture.service.polling }

    /// Waits for a request and the end of its load, and until the timer sleeps.
    private func polled(_ number: Int) async throws {
        _ = try await fixture.transport.request(number: number)
        while item.isLoading { await Task.yield() }
        await clock.waitForSleepers(count: 1)
    }

    /// How long the timer sleeps; `nil` if it does not.
    private var wait: Duration? { clock.nextDeadline.map { clock.now.duration(to: $0) } }

    @Test("An observed resource is loaded again when the interval has passed since the last load ended")
    func interval() async throws {
        try fixture.service.configure("/item") { $0.refresh = .every(.seconds(5)) }
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").once().answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        let observation = item.observeSynchronously { _ in }
        #expect(fixture.transport.requestCount == 0)
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(5))
        clock.advance(by: .seconds(5))
        _ = try await fixture.transport.request(number: 1)
        clock.advance(by: .seconds(60))
        // The load takes longer than the interval, and no second load begins meanwhile.
        #expect(fixture.transport.requestCount == 1)
        latch.open()
        try await polled(1)
        #expect(wait == .seconds(5))
        clock.advance(by: .seconds(5))
        try await polled(2)
        #expect(fixture.transport.requestCount == 2)
        observation.cancel()
    }

    @Test("Without an observer there is no timer, and none is left after the last observer")
    func noTimer() async throws {
        try fixture.service.configure("/item") { $0.refresh = .every(.seconds(5)) }
        try await item.load()
        #expect(clock.sleeperCount == 0)
        let observation = item.observeSynchronously { _ in }
        await clock.waitForSleepers(count: 1)
        observation.cancel()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(timer.count == 0)
        clock.advance(by: .seconds(60))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A load that is running when the last observer leaves is cancelled, and no load follows it")
    func lastObserver() async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").once().answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        _ = try await fixture.transport.request(number: 1)
        observation.cancel()
        #expect(!item.isLoading)
        latch.open()
        clock.advance(by: .seconds(60))
        #expect(timer.count == 0)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Polling that the last observer has ended begins again with the next one")
    func nextObserver() async throws {
        for number in 1...3 {
            let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(5))
            try await polled(number)
            observation.cancel()
            while clock.sleeperCount > 0 { await Task.yield() }
        }
        clock.advance(by: .seconds(60))
        // The content is older than the interval now.
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        try await polled(4)
        observation.cancel()
    }

    @Test("Observers that come and go do not restart the interval")
    func comersAndGoers() async throws {
        try await item.load()
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        for _ in 1...4 {
            clock.advance(by: .seconds(1))
            item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }.cancel()
            item.observeSynchronously { _ in }.cancel()
        }
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(1))
        clock.advance(by: .seconds(1))
        try await polled(2)
        observation.cancel()
    }

    @Test("The shortest interval counts, and the interval of an observer ends with the observer")
    func least() async throws {
        try fixture.service.configure("/item") { $0.refresh = .every(.seconds(60)) }
        try await item.load()
        let slow = item.observeSynchronously { _ in }
        let quick = Task { for await _ in item.states(refreshing: .every(.seconds(2))) {} }
        while item.observerCount < 2 { await Task.yield() }
        await clock.waitForSleepers(count: 1)
        while wait != .seconds(2) { await Task.yield() }
        clock.advance(by: .seconds(2))
        try await polled(2)
        #expect(wait == .seconds(2))
        quick.cancel()
        await quick.value
        clock.advance(by: .seconds(2))
        while wait != .seconds(58) { await Task.yield() }
        #expect(fixture.transport.requestCount == 2)
        slow.cancel()
    }

    @Test("Failures double the pause up to eight times, until a load succeeds")
    func failures() async throws {
        fixture.transport.on(.get, "/v1/bad").answer(.notFound).thenAnswer(.notFound).thenAnswer(.notFound)
            .thenAnswer(.notFound).thenAnswer(.notFound).thenAnswer(json: 1)
        let bad: Resource<Int> = fixture.service.resource("bad")
        let observation = bad.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        for (number, pause) in [5, 10, 20, 40, 40, 40, 5].enumerated() {
            await clock.waitForSleepers(count: 1)
            #expect(wait == .seconds(pause), "pause \(number)")
            clock.advance(by: .seconds(pause))
            _ = try await fixture.transport.request(number: number + 1)
            while bad.isLoading { await Task.yield() }
        }
        observation.cancel()
    }

    @Test("A failure's Retry-After lengthens the pause, but for at most an hour")
    func retryAfter() async throws {
        fixture.transport.on(.get, "/v1/bad").answer(.serviceUnavailable, headerFields: [.retryAfter: "120"])
            .thenAnswer(.tooManyRequests, headerFields: [.retryAfter: "86400"])
            .thenAnswer(.serviceUnavailable, headerFields: [.retryAfter: "1"]).thenAnswer(json: 1)
        let bad: Resource<Int> = fixture.service.resource("bad")
        let observation = bad.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        for (number, pause) in [5, 120, 3_600, 40, 5].enumerated() {
            await clock.waitForSleepers(count: 1)
            #expect(wait == .seconds(pause), "pause \(number)")
            clock.advance(by: .seconds(pause))
            _ = try await fixture.transport.request(number: number + 1)
            while bad.isLoading { await Task.yield() }
        }
        observation.cancel()
    }

    @Test("A Retry-After from before the first observer counts, even if it is a date")
    func earlierRetryAfter() async throws {
        let date = HTTPDate.text(of: clock.date.addingTimeInterval(90))
        fixture.transport.on(.get, "/v1/bad").answer(.serviceUnavailable, headerFields: [.retryAfter: date])
        let bad: Resource<Int> = fixture.service.resource("bad")
        await #expect(throws: RequestFailure.self) { try await bad.load() }
        clock.advance(by: .seconds(30))
        let observation = bad.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(60))
        observation.cancel()
    }

    @Test("Regular loads send max-age=0, and those of an invalid resource send no-cache")
    func directives() async throws {
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        try await polled(1)
        item.invalidate()
        clock.advance(by: .seconds(5))
        try await polled(2)
        let sent = fixture.transport.requests.map { $0.headerFields[.cacheControl] }
        #expect(sent == ["max-age=0", "no-cache"])
        #expect(!item.isInvalid)
        observation.cancel()
    }

    @Test("The rule of the configuration ends the polling until the configuration is computed again")
    func rule() async throws {
        let isDone = Mutex(true)
        try fixture.service.configure("/item") {
            $0.refresh = .every(.seconds(5)) { item in
                isDone.withLock { $0 } && item.resource(as: Int.self).content == 7
            }
        }
        let observation = item.observeSynchronously(refreshing: .every(.seconds(6))) { _ in }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        _ = try await fixture.transport.request(number: 1)
        while item.isLoading || timer.count > 0 { await Task.yield() }
        clock.advance(by: .seconds(60))
        try await item.load()
        #expect(timer.count == 0)
        isDone.withLock { $0 = false }
        fixture.service.reconfigure()
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(5))
        observation.cancel()
    }

    @Test("The rule of an observer ends only its own interval")
    func ruleOfObserver() async throws {
        let slow = item.observeSynchronously(refreshing: .every(.seconds(60))) { _ in }
        let quick = item.observeSynchronously(refreshing: .every(.seconds(5)) { _ in true }) { _ in }
        await clock.waitForSleepers(count: 1)
        while wait != .seconds(5) { await Task.yield() }
        clock.advance(by: .seconds(5))
        try await polled(1)
        while wait != .seconds(60) { await Task.yield() }
        quick.cancel()
        #expect(timer.count == 1)
        slow.cancel()
    }

    @Test("Adding or removing a configuration block begins or ends the polling of observed resources")
    func reconfigured() async throws {
        let observation = item.observeSynchronously { _ in }
        #expect(clock.sleeperCount == 0)
        let block = try fixture.service.configure("/item") { $0.refresh = .every(.seconds(5)) }
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(5))
        block.remove()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(timer.count == 0)
        observation.cancel()
    }

    @Test("A load that is started by other code restarts the interval when it ends")
    func otherLoads() async throws {
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(4))
        try await item.load()
        clock.advance(by: .seconds(1))
        while wait != .seconds(4) { await Task.yield() }
        #expect(fixture.transport.requestCount == 1)
        observation.cancel()
    }

    @Test("Retries of a request belong to one load, whose end begins the pause")
    func retries() async throws {
        fixture.transport.on(.get, "/v1/bad").answer(.serviceUnavailable)
        let bad: Resource<Int> = fixture.service.resource("bad")
        try fixture.service.configure("/bad") { $0.mutate { request in request.retry = .attempts(3) } }
        let observation = bad.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        for attempt in 1...2 {
            _ = try await fixture.transport.request(number: attempt)
            await clock.waitForSleepers(count: 1)
            #expect(timer.count == 0)
            clock.advanceToNextDeadline()
        }
        _ = try await fixture.transport.request(number: 3)
        while bad.isLoading { await Task.yield() }
        await clock.waitForSleepers(count: 1)
        #expect(wait == .seconds(10))
        #expect(fixture.transport.requestCount == 3)
        observation.cancel()
    }

    @Test("Ten thousand polled resources have one sleeping task")
    func many() async throws {
        try fixture.service.configure("/many/*") { $0.refresh = .every(.seconds(5), jitter: 1) }
        let observations = (0..<10_000).map { number in
            fixture.service.resource("many", String(number), as: Int.self).observeSynchronously { _ in }
        }
        await clock.waitForSleepers(count: 1)
        #expect(timer.count == 10_000)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(clock.sleeperCount == 1)
        for observation in observations { observation.cancel() }
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(timer.count == 0)
    }

    @Test("Observers and loads of several threads never lose the timer", arguments: [UInt64](1...4))
    func threads(seed: UInt64) async throws {
        let item = item
        let last = item.observeSynchronously(refreshing: .every(.seconds(50))) { _ in }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var numbers = SeededNumbers(state: seed &* 31 &+ UInt64(task))
                    var observations: [ResourceObservation] = []
                    for _ in 0..<300 {
                        switch Int.random(in: 0..<6, using: &numbers) {
                        case 0, 1:
                            let seconds = Int.random(in: 5..<9, using: &numbers)
                            observations.append(
                                item.observeSynchronously(refreshing: .every(.seconds(seconds))) { _ in })
                        case 2, 3: observations.popLast()?.cancel()
                        case 4: _ = try? await item.load()
                        default: fixture.clock.advance(by: .seconds(6))
                        }
                    }
                    for observation in observations { observation.cancel() }
                }
            }
        }
        // Loads that the other observers have demanded may still be running.
        let limit = ContinuousClock.now + .seconds(20)
        while item.isLoading || timer.count != 1, ContinuousClock.now < limit { await Task.yield() }
        #expect(timer.count == 1, "seed \(seed)")
        #expect(item.observerCount == 1)
        await clock.waitForSleepers(count: 1)
        let requests = fixture.transport.requestCount
        clock.advance(by: .seconds(50))
        _ = try await fixture.transport.request(number: requests + 1)
        last.cancel()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(timer.count == 0)
    }

    @Test("Closing or releasing the service ends the polling")
    func end() async throws {
        let observation = item.observeSynchronously(refreshing: .every(.seconds(5))) { _ in }
        await clock.waitForSleepers(count: 1)
        await fixture.service.close()
        while clock.sleeperCount > 0 { await Task.yield() }
        observation.cancel()

        var other: ResourceFixture? = try ResourceFixture { $0.defaults.refresh = .every(.seconds(5)) }
        let otherClock = try #require(other?.clock)
        let (listener, owner) = (Listener(EventLog()), Owner())
        other?.service.resource("item", as: Int.self).addObserver(listener, owner: owner)
        await otherClock.waitForSleepers(count: 1)
        other = nil
        while otherClock.sleeperCount > 0 { await Task.yield() }
        withExtendedLifetime(owner) {}
    }
}
