import EssentialsTools

/// The registrations of one locator: read without a lock, written under one.
///
/// The registrations are in a page, a hash table with open addressing and linear probing that is at most half full.
/// Reading it without a lock is safe for four reasons:
///
/// 1. **Nothing is freed while a reader may look at it.** The table keeps every page and every slot that it has ever
///    published until `deinit`. A reader holds a reference to its locator, which owns the table and retains its parent.
/// 2. **A reader sees only initialized memory.** A page, a slot and a key are each published by one store with release
///    ordering, after what they lead to was written, and are loaded with acquire ordering.
/// 3. **A search is never cut short.** A cell's key changes once, from zero to its value, after the cell's slot was
///    stored. Removing a registration clears the slot and leaves the key, so a search continues past that cell.
/// 4. **A page that was replaced does not change any more.** Growing copies the registrations into a new page,
///    publishes it, and later writes go to the new page only. A reader of the old page sees the registrations as they
///    were at a moment of its call, as it would if it had run a little earlier.
///
/// A reader that begins after a writer has returned sees what the writer wrote.
///
/// The memory is bounded: pages double, so all replaced pages together are smaller than the current one, and the number
/// of slots, including removed ones, is limited.
struct RegistrationTable: ~Copyable {
    /// The current page. `nil` before the first registration.
    private let page = Atomic<Unmanaged<TablePage>?>(nil)
    private let closed = Atomic<Bool>(false)
    private let writing = Mutex(Writing())
    private let limit: Int

    /// The state that only writers use.
    private struct Writing {
        /// Every slot that was ever published, in order of registration.
        var slots: [Slot] = []
        /// Every page that was ever published. The last one is the current page.
        var pages: [TablePage] = []
        /// The number of cells of the current page that have a key.
        var usedCells = 0
    }

    /// - Parameter limit: The number of registrations that the table accepts, including removed and replaced ones.
    init(limit: Int) { self.limit = limit }

    deinit {
        var slots = writing.withLock { state in
            defer { state.slots = [] }
            return state.slots
        }
        // The youngest first, so that a service is released before the services that it was built from.
        while !slots.isEmpty { slots.removeLast() }
    }

    // MARK: Reading on any thread, without a lock

    /// The registration under `key`. It lives as long as the table.
    func slot(for key: ServiceKey) -> Unmanaged<Slot>? {
        page.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.slot(for: key) }
    }

    /// Whether the table accepts no more registrations.
    var isClosed: Bool { closed.load(ordering: .acquiring) }
}

/// A page of a ``RegistrationTable``. The number of cells is a power of two.
///
/// `@unchecked Sendable`: the stored properties are constants, and the cells consist of atomics.
private final class TablePage: @unchecked Sendable {
    private struct Cell: ~Copyable {
        /// The key's word, or zero. It never changes once it is set.
        let key = Atomic<UInt>(0)
        /// The registration, or `nil` if it was removed. The table owns it.
        let slot = Atomic<Unmanaged<Slot>?>(nil)
    }

    let capacity: Int
    private let cells: UnsafeMutablePointer<Cell>
    /// How far to shift a hash to the right so that it becomes an index.
    private let shift: UInt

    init(capacity: Int) {
        self.capacity = capacity
        shift = UInt(UInt.bitWidth - capacity.trailingZeroBitCount)
        cells = .allocate(capacity: capacity)
        for index in 0..<capacity { (cells + index).initialize(to: Cell()) }
    }

    deinit {
        cells.deinitialize(count: capacity)
        cells.deallocate()
    }

    /// The index where the search for a key begins. Multiplying by 2^64 divided by the golden ratio spreads
    /// neighbouring addresses over the top bits.
    @inline(__always)
    private func firstIndex(_ key: ServiceKey) -> Int {
        Int(bitPattern: (key.word &* 0x9E37_79B9_7F4A_7C15) &>> shift)
    }

    /// The search. It ends because at least half of the cells have no key.
    @inline(__always)
    func slot(for key: ServiceKey) -> Unmanaged<Slot>? {
        var index = firstIndex(key)
        while true {
            let word = cells[index].key.load(ordering: .acquiring)
            if word == 0 { return nil }
            if word == key.word, let slot = cells[index].slot.load(ordering: .acquiring),
                slot._withUnsafeGuaranteedRef({ key.isSame(as: $0.key) })
            {
                return slot
            }
            index = (index &+ 1) & (capacity &- 1)
        }
    }
}

// MARK: - Writing under the lock

extension RegistrationTable {
    enum Policy: Sendable {
        /// Refuse a registration whose key is taken.
        case refuse
        /// Replace the registration that has the key.
        case replace
    }

    enum Insertion: Sendable {
        /// The registrations that were replaced.
        case inserted(replaced: [Slot])
        case refused(Slot, existing: Slot)
        case full
        case closed
    }

    /// Publishes all slots or none of them. The caller withdraws the replaced ones after this has returned.
    func insert(_ slots: [Slot], policy: Policy) -> Insertion {
        writing.withLock { state in
            if isClosed { return .closed }
            for (index, slot) in slots.enumerated() {
                if let twin = slots[..<index].first(where: { $0.key == slot.key }) {
                    return .refused(slot, existing: twin)
                }
                if policy == .refuse, let existing = current(slot.key) { return .refused(slot, existing: existing) }
            }
            guard state.slots.count + slots.count <= limit else { return .full }
            return .inserted(replaced: slots.compactMap { publish($0, &state) })
        }
    }

    /// Removes the registration under `key`, if its identifier is `id`. The caller withdraws it afterwards.
    func remove(_ key: ServiceKey, id: UInt64? = nil) -> Slot? {
        writing.withLock { state in
            guard let existing = current(key), id == nil || existing.id == id else { return nil }
            state.pages.last?.replace(existing, by: nil)
            return existing
        }
    }

    /// Publishes a slot again in place of the one that replaced it. Returns `false` if that one is no longer published.
    func putBack(_ old: Slot, for new: Slot) -> Bool {
        writing.withLock { state in
            guard !isClosed, current(new.key) === new else { return false }
            state.pages.last?.replace(new, by: old)
            return true
        }
    }

    /// Accepts no more registrations.
    ///
    /// - Returns: The current registrations, oldest first, or `nil` if the table was closed before.
    func close() -> [Slot]? {
        writing.withLock { state in
            guard !isClosed else { return nil }
            closed.store(true, ordering: .releasing)
            return live(state)
        }
    }

    /// The current registrations, oldest first.
    func liveSlots() -> [Slot] {
        writing.withLock { live($0) }
    }

    private borrowing func live(_ state: Writing) -> [Slot] {
        state.slots.filter { current($0.key) === $0 }
    }

    private borrowing func current(_ key: ServiceKey) -> Slot? { slot(for: key)?.takeUnretainedValue() }

    /// Publishes a slot and returns the one that it replaces.
    private borrowing func publish(_ slot: Slot, _ state: inout Writing) -> Slot? {
        state.slots.append(slot)
        if let existing = current(slot.key), let page = state.pages.last {
            page.replace(existing, by: slot)
            return existing
        }
        if let page = state.pages.last, (state.usedCells + 1) * 2 <= page.capacity {
            if page.add(slot) { state.usedCells += 1 }
            return nil
        }
        let next = TablePage(capacity: max(16, (state.pages.last?.capacity ?? 0) * 2))
        state.usedCells = next.add(contentsOf: state.pages.last) + (next.add(slot) ? 1 : 0)
        state.pages.append(next)
        page.store(.passUnretained(next), ordering: .releasing)
        return nil
    }
}

extension TablePage {
    /// Stores a slot in the first cell that is free or was freed under the same word. Returns whether the cell is new.
    func add(_ slot: Slot) -> Bool {
        var index = firstIndex(slot.key)
        while true {
            let word = cells[index].key.load(ordering: .relaxed)
            if word == 0 || word == slot.key.word && cells[index].slot.load(ordering: .relaxed) == nil {
                cells[index].slot.store(.passUnretained(slot), ordering: .releasing)
                cells[index].key.store(slot.key.word, ordering: .releasing)
                return word == 0
            }
            index = (index + 1) & (capacity - 1)
        }
    }

    /// Adds the registrations of another page and returns their number.
    func add(contentsOf old: TablePage?) -> Int {
        guard let old else { return 0 }
        var count = 0
        for index in 0..<old.capacity {
            guard let slot = old.cells[index].slot.load(ordering: .relaxed) else { continue }
            if add(slot.takeUnretainedValue()) { count += 1 }
        }
        return count
    }

    /// Stores another slot, or none, in the cell of a slot that is in this page.
    func replace(_ old: Slot, by new: Slot?) {
        let held = Unmanaged.passUnretained(old).toOpaque()
        var index = firstIndex(old.key)
        while cells[index].slot.load(ordering: .relaxed)?.toOpaque() != held { index = (index + 1) & (capacity - 1) }
        cells[index].slot.store(new.map { .passUnretained($0) }, ordering: .releasing)
    }
}
