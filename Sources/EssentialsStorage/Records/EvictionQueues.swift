import EssentialsTools

/// Decides which entries of a store are evicted first, as a pure value (S3-FIFO).
///
/// A new entry is in a small queue. If it is used before it leaves that queue, it moves to the main queue, otherwise it
/// is evicted. So entries that are read only once do not displace the rest. An entry that returns soon after its
/// eviction goes to the main queue at once. In the main queue an entry stays one more round for each of its last three
/// uses. A use changes only a counter, and every operation takes constant time on average.
///
/// The store knows its entries by their places here, which are small numbers. It keeps the keys itself, so that it hashes
/// each once; see ``EvictionOrder`` for a store that needs only an order of keys.
package struct EvictionQueues: Sendable {
    /// What counts for the place of an entry in the queues.
    package struct Standing: Sendable, Hashable {
        package var bytes: Int
        /// The number of uses that still count, at most three. Each further round in the main queue uses up one.
        package var uses: Int
        package var isMain: Bool
    }

    private struct Entry: Sendable {
        var bytes: Int
        /// Tells entries apart after their eviction.
        var fingerprint: Int
        var uses: UInt8
        var isMain: Bool
        /// The neighbours in the queue. Of an unused place, `next` is the next unused one.
        var previous = none
        var next = none
    }

    /// A queue of linked entries.
    private struct Queue: Sendable {
        private(set) var first = none
        private var last = none
        var bytes = 0

        mutating func append(_ place: Int, _ entries: inout [Entry]) {
            (entries[place].previous, entries[place].next) = (last, none)
            if last == none { first = Int32(place) } else { entries[Int(last)].next = Int32(place) }
            last = Int32(place)
            bytes += entries[place].bytes
        }

        mutating func remove(_ place: Int, _ entries: inout [Entry]) {
            let entry = entries[place]
            if entry.previous == none { first = entry.next } else { entries[Int(entry.previous)].next = entry.next }
            if entry.next == none { last = entry.previous } else { entries[Int(entry.next)].previous = entry.previous }
            bytes -= entry.bytes
        }
    }

    private static let none: Int32 = -1
    private static let maximumUses: UInt8 = 3

    /// The size of all entries.
    package var bytes: Int { small.bytes + main.bytes }
    /// The number of entries.
    package private(set) var count = 0
    private var entries: [Entry] = []
    private var small = Queue()
    private var main = Queue()
    private var firstUnused = none
    /// The fingerprints of the entries most recently evicted from the small queue. The maximum is the number of entries, or
    /// 16 if that is more.
    private var evicted: Set<Int> = []
    private var evictedOrder = Fifo<Int>()

    package init() {}

    /// What counts for the place of an entry.
    package subscript(place: Int) -> Standing {
        let entry = entries[place]
        return Standing(bytes: entry.bytes, uses: Int(entry.uses), isMain: entry.isMain)
    }

    /// The places of all entries, the next to evict first in each queue.
    package var places: [Int] {
        var places: [Int] = []
        for queue in [small, main] {
            var place = queue.first
            while place != Self.none {
                places.append(Int(place))
                place = entries[Int(place)].next
            }
        }
        return places
    }

    // MARK: Changing

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - bytes: Its size.
    ///   - fingerprint: The hash of its key, by which it is known if it returns.
    /// - Returns: Its place, which is valid until the entry is removed or evicted.
    package mutating func insert(bytes: Int, fingerprint: Int) -> Int {
        let isMain = !evicted.isEmpty && evicted.remove(fingerprint) != nil
        return add(Entry(bytes: Self.size(bytes), fingerprint: fingerprint, uses: 0, isMain: isMain))
    }

    /// Adds an entry with the standing that it had in another value.
    package mutating func restore(_ standing: Standing, fingerprint: Int) -> Int {
        let uses = UInt8(min(max(standing.uses, 0), Int(Self.maximumUses)))
        return add(
            Entry(bytes: Self.size(standing.bytes), fingerprint: fingerprint, uses: uses, isMain: standing.isMain))
    }

    /// Changes the size of an entry that is replaced, which is a use and keeps its place.
    package mutating func replace(_ place: Int, bytes size: Int) {
        let change = Self.size(size) - entries[place].bytes
        entries[place].bytes += change
        if entries[place].isMain { main.bytes += change } else { small.bytes += change }
        use(place)
    }

    /// Records a use of an entry.
    package mutating func use(_ place: Int) {
        if entries[place].uses < Self.maximumUses { entries[place].uses += 1 }
    }

    /// Removes an entry.
    package mutating func remove(_ place: Int) {
        unlink(place)
        entries[place].next = firstUnused
        firstUnused = Int32(place)
        count -= 1
    }

    /// Removes the next entry to evict.
    ///
    /// - Parameters:
    ///   - budget: The size of the store. A tenth of it is for the small queue.
    ///   - spared: An entry that stays, because it was just inserted.
    /// - Returns: The former place of the entry; `nil` if there is none.
    package mutating func evict(budget: Int, sparing spared: Int? = nil) -> Int? {
        guard let spared else { return evict(budget) }
        unlink(spared)
        defer { link(spared) }
        return evict(budget)
    }

    private mutating func evict(_ budget: Int) -> Int? {
        while true {
            let isSmall = small.first != Self.none && (small.bytes > budget / 10 || main.first == Self.none)
            let first = isSmall ? small.first : main.first
            guard first != Self.none else { return nil }
            let place = Int(first)
            guard entries[place].uses > 0 else {
                remove(place)
                if isSmall { remember(entries[place].fingerprint) }
                return place
            }
            unlink(place)
            entries[place].uses = isSmall ? 0 : entries[place].uses - 1
            entries[place].isMain = true
            link(place)
        }
    }

    // MARK: Queues

    /// The upper limit keeps sums from overflowing.
    private static func size(_ bytes: Int) -> Int { min(max(bytes, 0), 1 << 50) }

    private mutating func add(_ entry: Entry) -> Int {
        var place = Int(firstUnused)
        if firstUnused == Self.none {
            place = entries.count
            entries.append(entry)
        } else {
            firstUnused = entries[place].next
            entries[place] = entry
        }
        count += 1
        link(place)
        return place
    }

    /// Puts an entry at the end of its queue.
    private mutating func link(_ place: Int) {
        if entries[place].isMain { main.append(place, &entries) } else { small.append(place, &entries) }
    }

    /// Takes an entry out of its queue.
    private mutating func unlink(_ place: Int) {
        if entries[place].isMain { main.remove(place, &entries) } else { small.remove(place, &entries) }
    }

    private mutating func remember(_ fingerprint: Int) {
        if evicted.insert(fingerprint).inserted { evictedOrder.append(fingerprint) }
        while evictedOrder.count > max(count, 16), let oldest = evictedOrder.popFirst() { evicted.remove(oldest) }
    }
}
