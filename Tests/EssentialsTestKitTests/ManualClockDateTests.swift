import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct ManualClockDateTests {
    @Test("The date moves with the clock, and setting it forward or back wakes no sleeper")
    func date() async throws {
        let start = Date(timeIntervalSince1970: 1_000)
        let clock = ManualClock(date: start)
        clock.advance(by: .seconds(5))
        #expect(clock.date == start.addingTimeInterval(5))
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        await clock.waitForSleepers(count: 1)
        for offset in [1_000_000.0, -1_000_000.0] {
            clock.date = start.addingTimeInterval(offset)
            #expect(clock.requestClock.date == start.addingTimeInterval(offset))
            #expect(clock.sleeperCount == 1)
        }
        clock.advance(by: .seconds(10))
        try await sleeper.value
        #expect(clock.date == start.addingTimeInterval(-1_000_000 + 10))
    }

    @Test(
        "The time since the start of the machine moves with the clock and not with the date, and a reboot begins it anew"
    )
    func bootTime() throws {
        let clock = ManualClock()
        let requestClock = clock.requestClock
        let first = try #require(requestClock.bootTime)
        clock.date = clock.date.addingTimeInterval(1_000_000)
        clock.advance(by: .seconds(5))
        let second = try #require(requestClock.bootTime)
        #expect(second == BootTime(boot: first.boot, elapsed: first.elapsed + .seconds(5)))
        let date = clock.date
        clock.reboot()
        let third = try #require(clock.requestClock.bootTime)
        #expect(third.boot != first.boot && third.elapsed == .zero)
        #expect(clock.date == date)
        #expect(ManualClock().bootTime.boot != first.boot)
    }

    @Test("The random numbers of two clocks are the same, and random durations stay in their range")
    func random() {
        let (one, other) = (ManualClock().requestClock, ManualClock().requestClock)
        #expect((0..<10).map { _ in one.random() } == (0..<10).map { _ in other.random() })
        for _ in 0..<1_000 {
            let duration = one.random(in: .seconds(1)...(.seconds(3)))
            #expect(duration >= .seconds(1) && duration <= .seconds(3))
        }
    }
}
