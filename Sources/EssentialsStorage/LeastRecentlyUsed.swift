/// Entries in the order of their last use, limited in number and total size. The least recently used are evicted first.
///
/// Entries are linked by index in one array, whose slots are reused. Finding, inserting and removing take constant time
/// on average.
package struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        /// `nil` in a free slot.
        var entry: (key: Key, value: Value, bytes: Int)?
        var previous = -1
        /// The next newer entry, or the next free slot.
        var next = -1
    }

    package let maximumCount: Int
    package let maximumBytes: Int
    /// The sum of the sizes.
    package private(set) var bytes = 0
    private var slots: [Slot] = []
    private var index: [Key: Int] = [:]
    private var free = -1
    private var oldest = -1
    private var newest = -1

    /// Creates an empty collection.
    package init(maximumCount: Int, maximumBytes: Int) {
        // The upper limit keeps sums from overflowing.
        self.maximumCount = min(max(maximumCount, 0), 1 << 30)
        self.maximumBytes = min(max(maximumBytes, 0), 1 << 60)
    }

    /// The number of entries.
    package var count: Int { index.count }
    /// The keys, least recently used first.
    package var keys: [Key] {
        var keys: [Key] = []
        var slot = oldest
        while slot >= 0 {
            if let entry = slots[slot].entry { keys.append(entry.key) }
            slot = slots[slot].next
        }
        return keys
    }

    /// The value of a key, which counts as a use.
    package mutating func use(_ key: Key) -> Value? {
        guard let slot = index[key] else { return nil }
        if slot != newest {
            unlink(slot)
            append(slot)
        }
        return slots[slot].entry?.value
    }

    /// Inserts an entry as the newest, or replaces the one with the same key. An entry that is larger than the maximum
    /// is not kept.
    ///
    /// - Returns: The keys that were evicted. They include the inserted key if its entry was too large.
    package mutating func insert(_ value: Value, for key: Key, bytes size: Int) -> [Key] {
        remove(key)
        let size = max(size, 0)
        guard size <= maximumBytes, maximumCount > 0 else { return [key] }
        let slot: Int
        if free >= 0 {
            slot = free
            free = slots[slot].next
        } else {
            slot = slots.count
            slots.append(Slot())
        }
        slots[slot].entry = (key, value, size)
        index[key] = slot
        bytes += size
        append(slot)
        var evicted: [Key] = []
        while bytes > maximumBytes || count > maximumCount, let key = slots[oldest].entry?.key {
            remove(key)
            evicted.append(key)
        }
        return evicted
    }

    /// Removes an entry.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let slot = index.removeValue(forKey: key), let entry = slots[slot].entry else { return nil }
        unlink(slot)
        bytes -= entry.bytes
        slots[slot] = Slot(next: free)
        free = slot
        return entry.value
    }

    /// Removes the least recently used entry; `nil` if there is no entry.
    package mutating func removeOldest() -> (key: Key, value: Value)? {
        guard oldest >= 0, let entry = slots[oldest].entry else { return nil }
        remove(entry.key)
        return (entry.key, entry.value)
    }

    /// The value of a key, which does not count as a use.
    package func value(of key: Key) -> Value? { index[key].flatMap { slots[$0].entry?.value } }

    /// Removes all entries that fulfil a condition, in linear time.
    ///
    /// - Returns: Their keys.
    @discardableResult
    package mutating func removeAll(where isRemoved: (Key) -> Bool) -> [Key] {
        let removed = index.keys.filter(isRemoved)
        for key in removed { remove(key) }
        return removed
    }

    private mutating func append(_ slot: Int) {
        slots[slot].previous = newest
        slots[slot].next = -1
        if newest >= 0 { slots[newest].next = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (previous, next) = (slots[slot].previous, slots[slot].next)
        if previous >= 0 { slots[previous].next = next } else { oldest = next }
        if next >= 0 { slots[next].previous = previous } else { newest = previous }
    }
}
