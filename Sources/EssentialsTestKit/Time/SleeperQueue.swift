/// Who sleeps until when: gives those that are due in the order of their deadlines, and of their arrival where these
/// are equal.
///
/// A removed sleeper leaves its key behind until half of the keys are such; so removing costs no search.
struct SleeperQueue<Sleeper> {
    /// Names one sleeper.
    struct Key: Hashable, Comparable {
        let deadline: ManualClock.Instant
        let number: Int

        static func < (first: Key, second: Key) -> Bool {
            (first.deadline, first.number) < (second.deadline, second.number)
        }
    }

    /// A binary heap, the earliest at its root.
    private var keys: [Key] = []
    private var sleepers: [Key: Sleeper] = [:]
    private var nextNumber = 0

    /// How many sleep.
    var count: Int { sleepers.count }

    /// The earliest deadline.
    var nextDeadline: ManualClock.Instant? {
        mutating get {
            dropRemoved()
            return keys.first?.deadline
        }
    }

    /// A key that nobody else has.
    mutating func makeKey(_ deadline: ManualClock.Instant) -> Key {
        defer { nextNumber += 1 }
        return Key(deadline: deadline, number: nextNumber)
    }

    mutating func insert(_ sleeper: Sleeper, _ key: Key) {
        sleepers[key] = sleeper
        keys.append(key)
        rise(from: keys.count - 1)
    }

    /// Takes one out, whatever its deadline; nil when it is not there any more.
    mutating func remove(_ key: Key) -> Sleeper? {
        guard let sleeper = sleepers.removeValue(forKey: key) else { return nil }
        if keys.count > 2 * sleepers.count + 16 {
            // What is sorted is a heap too.
            keys = sleepers.keys.sorted()
        }
        return sleeper
    }

    /// Takes all out whose deadline has come.
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
