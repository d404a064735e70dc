import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct CacheMomentTests {
    private static let date = CacheFixtures.start
    private static let day = 86_400.0

    /// Seconds of the wall clock and of the running clock, the two boots, and what has passed.
    static let vectors: [(wall: Double, running: Double, boot: Int, Double?)] = [
        // Within one start the running clock counts, whatever the date does.
        (10, 10, 7, 10), (0, 10, 7, 10), (-365 * day, 10, 7, 10), (3_600, 10, 7, 10), (10, 0, 7, 0), (10, -1, 7, nil),
        // A machine that was frozen does not know what it has missed.
        (day + 9, 10, 7, day + 9 - 10 < day ? 10 : nil), (day + 10, 10, 7, nil), (5 * day, 10, 7, nil),
        (5 * day, 5 * day, 7, 5 * day),
        // After a restart the wall clock counts, if that can be.
        (500, -900, 8, 500), (0, -999, 8, nil), (-1, -900, 8, nil), (day - 1, -900, 8, day - 1), (day, -900, 8, nil),
        (400, -500, 8, nil),
    ]

    @Test("What passed is that of the running clock, and of the wall clock after a restart", arguments: vectors)
    func elapsed(wall: Double, running: Double, boot: Int, passed: Double?) {
        let earlier = CacheFixtures.at(0)
        let now = CacheFixtures.moment(wall, running: 1_000 + running, boot: boot)
        #expect(now.elapsed(since: earlier) == passed.map { .seconds($0) })
    }

    @Test("Without the time since the start the wall clock counts, also for days, unless it went back")
    func unknownBoot() {
        let earlier = CacheMoment(date: Self.date, boot: nil)
        func passed(_ wall: Double) -> Duration? {
            CacheMoment(date: Self.date + wall, boot: nil).elapsed(since: earlier)
        }
        #expect(passed(5 * Self.day) == .seconds(5 * Self.day))
        #expect(passed(-0.5) == nil)
        #expect(passed(.infinity) == nil && passed(.nan) == nil)
        #expect(CacheFixtures.at(10).elapsed(since: earlier) == .seconds(10))
        #expect(CacheFixtures.at(Self.day).elapsed(since: earlier) == nil)
    }

    @Test("The present moment is that of the clock")
    func now() throws {
        let clock = RequestClock.system
        let one = clock.moment
        #expect(try #require(clock.moment.elapsed(since: one)) >= .zero)
        #expect(one.boot?.boot == BootTime.system?.boot)
    }

    @Test("Whatever the clocks do, nothing is fresh past its lifetime", arguments: [1, 2, 3] as [UInt64])
    func neverFreshTooLong(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<2_000 {
            var (wall, running, boot, passed): (Double, Double, Int, Double) = (0, 1_000, 7, 0)
            let lifetime = Int.random(in: 1...200_000, using: &numbers)
            let age = Int.random(in: 0...100, using: &numbers)
            let stored = StoredHead(
                status: .ok, fields: [.cacheControl: "max-age=\(lifetime)"], selection: .empty, age: .seconds(age),
                moment: CacheFixtures.moment(0, running: running), isUnpacked: false, options: CacheOptions())
            // How much the wall clock is behind because it was set back, or because the machine stood still unseen.
            var behind = 0.0
            for _ in 0..<Int.random(in: 1...12, using: &numbers) {
                let step = Double(Int.random(in: 0...40_000, using: &numbers))
                switch Int.random(in: 0..<6, using: &numbers) {
                case 0:
                    let back = Double(Int.random(in: 0...400_000, using: &numbers))
                    wall -= back
                    behind += back
                case 1: wall += Double(Int.random(in: 0...400_000, using: &numbers))
                case 2:
                    // Off for a while; the clock of the board goes on.
                    (boot, running) = (boot + 1, 0)
                    (wall, passed) = (wall + step, passed + step)
                default: (wall, running, passed) = (wall + step, running + step, passed + step)
                }
                let now = CacheFixtures.moment(wall, running: running, boot: boot)
                let isFresh = stored.timeLeft(at: now) > .zero
                // Only a clock that was set back while the machine was restarted can hide time, and no more than that.
                let hidden = boot == 7 ? 0 : behind
                #expect(!isFresh || passed + Double(age) < Double(lifetime) + hidden, "seed \(seed), round \(round)")
                if boot == 7, isFresh { #expect(stored.age(at: now) == .seconds(passed + Double(age))) }
                if isFresh { #expect((stored.age(at: now) ?? .zero) < .seconds(lifetime)) }
            }
        }
    }
}
