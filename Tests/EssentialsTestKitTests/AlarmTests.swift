import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Waits of a clock", .timeLimit(.minutes(1)))
struct AlarmTests {
    private let clock = ManualClock()

    @Test("A sleep until a time ends when the clock reaches it, measured from the value's creation")
    func sleepUntil() async throws {
        clock.advance(by: .seconds(100))
        let requestClock = clock.requestClock
        clock.advance(by: .seconds(2))
        let sleeper = Task { try await requestClock.sleep(until: .seconds(5)) }
        await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline == ManualClock.Instant(elapsed: .zero).advanced(by: .seconds(105)))
        clock.advance(by: .seconds(3))
        try await sleeper.value
        #expect(requestClock.now == .seconds(5))
        try await requestClock.sleep(until: .seconds(5))
        try await requestClock.sleep(until: .seconds(-1))
    }

    @Test("A sleep until a time that is too far away for the clock, or whose task is cancelled, throws no other error")
    func sleepEnds() async throws {
        let requestClock = clock.requestClock
        for time in [Duration.seconds(10), .seconds(Int64.max)] {
            let sleeper = Task { try await requestClock.sleep(until: time) }
            await clock.waitForSleepers(count: 1)
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        let system = Task { try await RequestClock.system.sleep(until: .seconds(Int64.max)) }
        system.cancel()
        await #expect(throws: CancellationError.self) { try await system.value }
    }

    @Test("An alarm is due at its time")
    func due() async throws {
        let alarm = Alarm(clock.requestClock)
        let waiting = Task { try await alarm.wait(until: .seconds(5)) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        #expect(try await waiting.value == .due)
        #expect(try await alarm.wait(until: .seconds(5)) == .due)
    }

    @Test("An alarm that is woken ends its wait early, and the next wait has its own time")
    func woken() async throws {
        let alarm = Alarm(clock.requestClock)
        let waiting = Task { try await alarm.wait(until: .seconds(500)) }
        await clock.waitForSleepers(count: 1)
        alarm.wake()
        #expect(try await waiting.value == .woken)
        let next = Task { try await alarm.wait(until: .seconds(1)) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await next.value == .due)
        #expect(clock.sleeperCount == 0)
    }

    @Test("An alarm that is woken before a wait ends that wait at once, and only that one")
    func early() async throws {
        let alarm = Alarm(clock.requestClock)
        alarm.wake()
        alarm.wake()
        #expect(try await alarm.wait(until: .seconds(1_000)) == .woken)
        clock.advance(by: .seconds(1))
        #expect(try await alarm.wait(until: .seconds(1)) == .due)
    }

    @Test("A cancelled wait throws, and leaves no sleeper")
    func cancelled() async throws {
        let alarm = Alarm(clock.requestClock)
        let waiting = Task { try await alarm.wait(until: .seconds(5)) }
        await clock.waitForSleepers(count: 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(clock.sleeperCount == 0)
    }
}
