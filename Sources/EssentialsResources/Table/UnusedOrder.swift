/// The order in which resources were last used, for dropping the unused ones that were used longest ago.
///
/// It is unknown whether an entry is in use until it is examined. All entries begin in the first list, in the order of
/// their last use, and count against the limits. When the limits are exceeded, the oldest are examined: unused ones are
/// evicted, and those in use move to a second list, which does not count. For each examined entry, one entry of the
/// second list is examined again, and returns to the first list if it is no longer in use. A call examines at most
/// eight entries of each list, so its time does not depend on the number of entries.
///
/// Entries are linked by index in one array, whose slots are used again. All methods take constant time unless their
/// documentation says otherwise.
struct UnusedOrder<Element: Sendable>: Sendable {
    /// The limits for entries that are not in use.
    struct Limits: Sendable, Hashable {
        /// The number of entries. The default is 2,048.
        var count = 2048
        /// The bytes of their contents. The default is 32 MiB.
        var bytes = 32 << 20
    }

    /// The slot of an entry. It is used again after the entry was removed.
    typealias Slot = Int32

    /// The members are ordered so that there is no padding, because every resource has an entry.
    private struct Entry: Sendable {
        /// The element; `nil` in a free slot.
        var element: Element?
        var isSecond: Bool
        var bytes: UInt32
        var previous: Slot
        /// The next newer entry, or the next free slot.
        var next: Slot
    }

    /// One of the two lists.
    private struct List: Sendable {
        var oldest = UnusedOrder.none
        var newest = UnusedOrder.none
        var count = 0
        var bytes = 0
    }

    /// The link that leads to no entry.
    private static var none: Slot { -1 }
    /// The maximum number of entries of each list that one call examines.
    private static var maximumLooks: Int { 8 }
    /// The maximum size that is counted for an entry, so that the sum does not overflow.
    private static var maximumBytes: UInt32 { 1 << 31 }

    private var entries: [Entry] = []
    private var free = UnusedOrder.none
    private var first = List()
    private var second = List()
    private var limits: Limits

    /// Creates an empty order.
    init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of entries in both lists.
    var count: Int { first.count + second.count }
    /// The number of entries that count against the limits. Some of them may be in use.
    var countedEntries: Int { first.count }
    /// The bytes that count against the limits.
    var countedBytes: Int { first.bytes }

    /// Adds an entry as the newest. It returns `nil` if no more slots can be numbered; the entry is then never evicted.
    /// Call ``evict(sparing:isUsed:)`` afterwards.
    mutating func insert(_ element: Element, bytes: Int) -> Slot? {
        let entry = Entry(
            element: element, isSecond: false, bytes: Self.bounded(bytes), previous: Self.none, next: Self.none)
        var slot = free
        if slot != Self.none {
            free = entries[Int(slot)].next
            entries[Int(slot)] = entry
        } else {
            guard let new = Slot(exactly: entries.count) else { return nil }
            slot = new
            entries.append(entry)
        }
        append(slot, isSecond: false)
        return slot
    }

    /// Makes an entry the newest. An entry of the second list stays there.
    mutating func touch(_ slot: Slot) {
        guard isTaken(slot), !entries[Int(slot)].isSecond, first.newest != slot else { return }
        move(slot, toSecond: false)
    }

    /// Changes the size of an entry's content. Call ``evict(sparing:isUsed:)`` afterwards.
    mutating func resize(_ slot: Slot, bytes: Int) {
        guard isTaken(slot) else { return }
        let isSecond = entries[Int(slot)].isSecond
        let bytes = Self.bounded(bytes)
        let change = Int(bytes) - Int(entries[Int(slot)].bytes)
        entries[Int(slot)].bytes = bytes
        if isSecond { second.bytes += change } else { first.bytes += change }
    }

    /// Removes an entry.
    @discardableResult
    mutating func remove(_ slot: Slot) -> Element? {
        guard isTaken(slot) else { return nil }
        unlink(slot)
        let element = entries[Int(slot)].element
        entries[Int(slot)].element = nil
        entries[Int(slot)].next = free
        free = slot
        return element
    }

    /// Evicts the oldest unused entries if the limits are exceeded. It examines at most eight entries of each list.
    ///
    /// - Parameters:
    ///   - spared: An entry that stays, such as one that was just added.
    ///   - isUsed: Whether an entry is in use.
    /// - Returns: The evicted elements.
    mutating func evict(sparing spared: Slot? = nil, isUsed: (Element) -> Bool) -> [Element] {
        evict(sparing: spared, maximumLooks: Self.maximumLooks, isUsed: isUsed)
    }

    /// Changes the limits, and evicts entries beyond them. This can take time linear in the number of entries.
    mutating func setLimits(_ limits: Limits, isUsed: (Element) -> Bool) -> [Element] {
        self.limits = limits
        return evict(sparing: nil, maximumLooks: .max, isUsed: isUsed)
    }

    /// Removes unused entries, the oldest first, regardless of the limits. This takes time linear in the number of
    /// entries.
    ///
    /// - Parameters:
    ///   - onlyHalf: Whether the newer half of the unused entries stays.
    ///   - isUsed: Whether an entry is in use.
    mutating func dropUnused(onlyHalf: Bool = false, isUsed: (Element) -> Bool) -> [Element] {
        var unused: [Slot] = []
        // The entries of the second list were last found by a look-up longer ago.
        for start in [second.oldest, first.oldest] {
            var slot = start
            while slot != Self.none {
                if let element = entries[Int(slot)].element, !isUsed(element) { unused.append(slot) }
                slot = entries[Int(slot)].next
            }
        }
        let dropped = onlyHalf ? unused.prefix((unused.count + 1) / 2) : unused[...]
        return dropped.compactMap { remove($0) }
    }

    // MARK: - Lists

    private var isOverLimits: Bool { first.count > limits.count || first.bytes > limits.bytes }

    private mutating func evict(
        sparing spared: Slot?, maximumLooks: Int, isUsed: (Element) -> Bool
    ) -> [Element] {
        var evicted: [Element] = []
        var looks = 0
        var looksAgain = 0
        while looks < maximumLooks {
            if isOverLimits {
                let slot = first.oldest
                guard slot != Self.none, slot != spared, let element = entries[Int(slot)].element else { break }
                looks += 1
                if isUsed(element) {
                    move(slot, toSecond: true)
                } else if let gone = remove(slot) {
                    evicted.append(gone)
                }
            } else {
                let slot = second.oldest
                guard looksAgain < looks, slot != Self.none, let element = entries[Int(slot)].element else { break }
                looksAgain += 1
                move(slot, toSecond: isUsed(element))
            }
        }
        return evicted
    }

    private func isTaken(_ slot: Slot) -> Bool {
        entries.indices.contains(Int(slot)) && entries[Int(slot)].element != nil
    }

    private mutating func move(_ slot: Slot, toSecond isSecond: Bool) {
        unlink(slot)
        append(slot, isSecond: isSecond)
    }

    private mutating func append(_ slot: Slot, isSecond: Bool) {
        var list = isSecond ? second : first
        entries[Int(slot)].isSecond = isSecond
        entries[Int(slot)].previous = list.newest
        entries[Int(slot)].next = Self.none
        if list.newest == Self.none { list.oldest = slot } else { entries[Int(list.newest)].next = slot }
        list.newest = slot
        list.count += 1
        list.bytes += Int(entries[Int(slot)].bytes)
        if isSecond { second = list } else { first = list }
    }

    private mutating func unlink(_ slot: Slot) {
        let (previous, next) = (entries[Int(slot)].previous, entries[Int(slot)].next)
        var list = entries[Int(slot)].isSecond ? second : first
        if previous == Self.none { list.oldest = next } else { entries[Int(previous)].next = next }
        if next == Self.none { list.newest = previous } else { entries[Int(next)].previous = previous }
        list.count -= 1
        list.bytes -= Int(entries[Int(slot)].bytes)
        if entries[Int(slot)].isSecond { second = list } else { first = list }
    }

    private static func bounded(_ bytes: Int) -> UInt32 { min(UInt32(clamping: bytes), maximumBytes) }
}
