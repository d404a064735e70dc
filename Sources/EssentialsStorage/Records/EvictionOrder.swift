package import EssentialsTools

// It is inlinable, so that other modules specialize it for their keys.

/// Decides which entries of a store are evicted first, as a pure value (S3-FIFO).
///
/// A new entry is in a small queue. If it is used before it leaves that queue, it moves to the main queue, otherwise it
/// is evicted. So entries that are read only once do not displace the rest. An entry that returns soon after its
/// eviction goes to the main queue at once. In the main queue an entry stays one more round for each of its last three
/// uses. A use changes only a counter, and every operation takes constant time on average.
package struct EvictionOrder<Key: Hashable & Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var bytes: Int
        /// The number of uses that still count, at most three. Each further round in the main queue uses up one.
        @usableFromInline var uses = 0
        @usableFromInline var isMain: Bool
        /// The place in the queue. A queued number that does not match belongs to an entry that was removed or
        /// replaced.
        @usableFromInline let number: UInt64

        @inlinable
        init(bytes: Int, uses: Int, isMain: Bool, number: UInt64) {
            (self.bytes, self.uses, self.isMain, self.number) = (bytes, uses, isMain, number)
        }
    }

    /// The place of an entry, for another value.
    package struct Place: Sendable, Hashable {
        package let key: Key
        package let bytes: Int
        package let uses: Int
        package let isMain: Bool

        @inlinable
        init(key: Key, bytes: Int, uses: Int, isMain: Bool) {
            (self.key, self.bytes, self.uses, self.isMain) = (key, bytes, uses, isMain)
        }
    }

    @inlinable static var maximumUses: Int { 3 }

    /// The size of all entries.
    @inlinable package var bytes: Int { sum }
    /// The same. Inlinable code of other modules changes it, so its setter cannot be private.
    @usableFromInline var sum = 0
    @usableFromInline var entries: [Key: Entry] = [:]
    @usableFromInline var small = Fifo<(key: Key, number: UInt64)>()
    @usableFromInline var main = Fifo<(key: Key, number: UInt64)>()
    @usableFromInline var smallBytes = 0
    /// The keys most recently evicted from the small queue. The maximum is the number of entries, or 16 if that is
    /// more.
    @usableFromInline var evicted: Set<Key> = []
    @usableFromInline var evictedOrder = Fifo<Key>()
    @usableFromInline var lastNumber: UInt64 = 0

    @inlinable
    package init() {}

    /// The number of entries.
    @inlinable
    package var count: Int { entries.count }
    @inlinable
    package var keys: some Collection<Key> { entries.keys }

    @inlinable
    package func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The size of an entry; `nil` if it does not exist.
    @inlinable
    package func bytes(of key: Key) -> Int? { entries[key]?.bytes }

    /// The places of all entries, the next to evict first in each queue.
    @inlinable
    package var places: [Place] {
        (Array(small) + Array(main)).compactMap { key, number in
            guard let entry = entries[key], entry.number == number else { return nil }
            return Place(key: key, bytes: entry.bytes, uses: entry.uses, isMain: entry.isMain)
        }
    }

    /// Adds entries with the places that they had in another value. Existing entries keep their places.
    @inlinable
    package mutating func restore(_ places: [Place]) {
        for place in places where entries[place.key] == nil {
            put(
                min(max(place.bytes, 0), 1 << 50), place.key, uses: min(max(place.uses, 0), Self.maximumUses),
                isMain: place.isMain)
        }
    }

    /// Records a use of an entry.
    @inlinable
    package mutating func use(_ key: Key) {
        guard let entry = entries[key], entry.uses < Self.maximumUses else { return }
        entries[key]?.uses += 1
    }

    /// Inserts an entry, or replaces the one with the same key, which is a use and keeps its place.
    @inlinable
    package mutating func insert(_ key: Key, bytes size: Int) {
        // The upper limit keeps sums from overflowing.
        let size = min(max(size, 0), 1 << 50)
        guard var entry = entries[key] else { return put(size, key, uses: 0, isMain: evicted.remove(key) != nil) }
        sum += size - entry.bytes
        if !entry.isMain { smallBytes += size - entry.bytes }
        (entry.bytes, entry.uses) = (size, min(entry.uses + 1, Self.maximumUses))
        entries[key] = entry
    }

    /// Puts an entry at the end of its queue.
    @inlinable
    mutating func put(_ size: Int, _ key: Key, uses: Int, isMain: Bool) {
        lastNumber += 1
        let entry = Entry(bytes: size, uses: uses, isMain: isMain, number: lastNumber)
        entries[key] = entry
        enqueue(key, entry)
        sum += size
        if !isMain { smallBytes += size }
    }

    /// Removes an entry.
    @inlinable
    package mutating func remove(_ key: Key) { _ = take(key) }

    /// Removes the next entry to evict; `nil` if there is no entry.
    ///
    /// - Parameters:
    ///   - budget: The size of the store. A tenth of it is for the small queue.
    ///   - spared: An entry that stays, because it was just inserted.
    @inlinable
    package mutating func evict(budget: Int, sparing spared: Key? = nil) -> Key? {
        guard let spared, let entry = take(spared) else { return evict(budget) }
        defer { put(entry.bytes, spared, uses: entry.uses, isMain: entry.isMain) }
        return evict(budget)
    }

    @inlinable
    mutating func evict(_ budget: Int) -> Key? {
        while !entries.isEmpty {
            let isSmall = !small.isEmpty && (smallBytes > budget / 10 || main.isEmpty)
            guard let (key, number) = isSmall ? small.popFirst() : main.popFirst() else {
                // Every entry is in one of the queues.
                return nil
            }
            guard var entry = entries[key], entry.number == number, entry.isMain != isSmall else { continue }
            if entry.uses > 0 {
                entry.uses = isSmall ? 0 : entry.uses - 1
                if isSmall { smallBytes -= entry.bytes }
                entry.isMain = true
                entries[key] = entry
                main.append((key, number))
                continue
            }
            _ = take(key)
            if isSmall { remember(key) }
            return key
        }
        return nil
    }

    @inlinable
    mutating func take(_ key: Key) -> Entry? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        sum -= entry.bytes
        if !entry.isMain { smallBytes -= entry.bytes }
        return entry
    }

    @inlinable
    mutating func enqueue(_ key: Key, _ entry: Entry) {
        if entry.isMain { main.append((key, entry.number)) } else { small.append((key, entry.number)) }
        // Prevents numbers of removed entries from piling up.
        if small.count + main.count > 2 * entries.count + 64 {
            small.removeAll { [entries] in entries[$0.key]?.number != $0.number || entries[$0.key]?.isMain == true }
            main.removeAll { [entries] in entries[$0.key]?.number != $0.number || entries[$0.key]?.isMain == false }
        }
    }

    @inlinable
    mutating func remember(_ key: Key) {
        if evicted.insert(key).inserted { evictedOrder.append(key) }
        while evictedOrder.count > max(entries.count, 16), let oldest = evictedOrder.popFirst() {
            evicted.remove(oldest)
        }
    }
}
