import Testing

@testable import EssentialsTestKit

@Suite struct SleeperQueueTests {
    private static func moment(_ seconds: Int) -> ManualClock.Instant {
        ManualClock.Instant(elapsed: .seconds(seconds))
    }

    @Test func `Due sleepers are returned in the order of deadline and arrival`() {
        var queue = SleeperQueue<String>()
        for (name, seconds) in [("c", 5), ("a", 2), ("d", 5), ("b", 2), ("e", 9)] {
            let key = queue.makeKey(Self.moment(seconds))
            queue.insert(name, key)
        }
        #expect(queue.nextDeadline == Self.moment(2))
        #expect(queue.removeDue(at: Self.moment(1)) == [])
        #expect(queue.removeDue(at: Self.moment(5)) == ["a", "b", "c", "d"])
        #expect(queue.count == 1)
        #expect(queue.removeDue(at: Self.moment(9)) == ["e"])
        #expect(queue.nextDeadline == nil)
    }

    @Test func `A removed sleeper is returned once`() {
        var queue = SleeperQueue<String>()
        let (first, second) = (queue.makeKey(Self.moment(1)), queue.makeKey(Self.moment(1)))
        queue.insert("first", first)
        queue.insert("second", second)
        #expect(queue.remove(first) == "first")
        #expect(queue.remove(first) == nil)
        #expect(queue.nextDeadline == Self.moment(1))
        #expect(queue.removeDue(at: Self.moment(1)) == ["second"])
        #expect(queue.remove(second) == nil)
    }

    /// Compares the queue with a sorted list, using pseudo-random deadlines and removals.
    @Test(arguments: [1, 2, 3, 4, 5]) func `The queue agrees with a sorted list`(seed: UInt64) {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var queue = SleeperQueue<Int>()
        var expected: [(key: SleeperQueue<Int>.Key, value: Int)] = []
        var now = 0
        for round in 0..<5000 {
            switch random(4) {
            case 0, 1:
                let key = queue.makeKey(Self.moment(now + 1 + random(50)))
                queue.insert(round, key)
                expected.append((key, round))
            case 2 where !expected.isEmpty:
                let (key, value) = expected.remove(at: random(expected.count))
                #expect(queue.remove(key) == value)
            default:
                now += random(5)
                let due = expected.filter { $0.key.deadline <= Self.moment(now) }.sorted { $0.key < $1.key }
                #expect(queue.removeDue(at: Self.moment(now)) == due.map(\.value))
                expected.removeAll { $0.key.deadline <= Self.moment(now) }
            }
            #expect(queue.count == expected.count)
            #expect(queue.nextDeadline == expected.map(\.key.deadline).min())
        }
    }
}
