import EssentialsTools

/// A queue of sleepers, ordered by deadline and then by arrival.
struct SleeperQueue<Sleeper> {
    /// Identifies one sleeper.
    struct Key: Hashable, Comparable {
        let deadline: ManualClock.Instant
        let number: Int

        static func < (first: Key, second: Key) -> Bool {
            (first.deadline, first.number) < (second.deadline, second.number)
        }
    }

    private var sleepers = Heap<Key, Key, Sleeper>()
    private var nextNumber = 0

    /// The number of sleepers.
    var count: Int { sleepers.count }

    /// The earliest deadline.
    var nextDeadline: ManualClock.Instant? { sleepers.first?.deadline }

    /// Returns a new unique key.
    mutating func makeKey(_ deadline: ManualClock.Instant) -> Key {
        defer { nextNumber += 1 }
        return Key(deadline: deadline, number: nextNumber)
    }

    mutating func insert(_ sleeper: Sleeper, _ key: Key) { sleepers.set(key, at: key, sleeper) }

    /// Removes a sleeper regardless of its deadline; `nil` if it is no longer in the queue.
    mutating func remove(_ key: Key) -> Sleeper? { sleepers.remove(key) }

    /// Removes and returns all sleepers whose deadline has been reached.
    mutating func removeDue(at now: ManualClock.Instant) -> [Sleeper] {
        sleepers.takeDue(at: Key(deadline: now, number: .max), limit: .max)
    }
}
