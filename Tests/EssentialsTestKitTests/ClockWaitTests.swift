import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Waits of a clock", .timeLimit(.minutes(5)))
struct ClockWaitTests {
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
}
