/// A queue of sleepers, ordered by deadline and then by arrival.
///
/// Removing a sleeper leaves its key in the heap, so that no search is needed. The heap is rebuilt when more than
/// half of its keys are stale.
struct SleeperQueue<Sleeper> {
    /// Identifies one sleeper.
    struct Key: Hashable, Comparable {
        let deadline: ManualClock.Instant
        let number: Int

        static func < (first: Key, second: Key) -> Bool {
            (first.deadline, first.number) < (second.deadline, second.number)
        }
    }

    /// A binary heap with the earliest key at its root.
    private var keys: [Key] = []
    private var sleepers: [Key: Sleeper] = [:]
    private var nextNumber = 0

    /// The number of sleepers.
    var count: Int { sleepers.count }

    /// The earliest deadline.
    var nextDeadline: ManualClock.Instant? {
        mutating get {
            dropRemoved()
            return keys.first?.deadline
        }
    }

    /// Returns a new unique key.
    mutating func makeKey(_ deadline: ManualClock.Instant) -> Key {
        defer { nextNumber += 1 }
        return Key(deadline: deadline, number: nextNumber)
    }

    mutating func insert(_ sleeper: Sleeper, _ key: Key) {
        sleepers[key] = sleeper
        keys.append(key)
        rise(from: keys.count - 1)
    }

    /// Removes a sleeper regardless of its deadline; `nil` if it is no longer in the queue.
    mutating func remove(_ key: Key) -> Sleeper? {
        guard let sleeper = sleepers.removeValue(forKey: key) else { return nil }
        if keys.count > 2 * sleepers.count + 16 {
            // A sorted array is a valid heap.
            keys = sleepers.keys.sorted()
        }
        return sleeper
    }

    /// Removes and returns all sleepers whose deadline has been reached.
    mutating func removeDue(at now: ManualClock.Instant) -> [Sleeper] {
        var due: [Sleeper] = []
        while let first = keys.first, first.deadline <= now {
            popKey()
            if let sleeper = sleepers.removeValue(forKey: first) { due.append(sleeper) }
        }
        return due
    }

    private mutating func dropRemoved() {
        while let first = keys.first, sleepers[first] == nil { popKey() }
    }

    private mutating func popKey() {
        keys.swapAt(0, keys.count - 1)
        keys.removeLast()
        sink()
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard keys[child] < keys[parent] else { return }
            keys.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < keys.count && keys[child] < keys[least] {
                least = child
            }
            guard least != parent else { return }
            keys.swapAt(parent, least)
            parent = least
        }
    }
}
