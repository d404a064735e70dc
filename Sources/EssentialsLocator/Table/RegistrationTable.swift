import Synchronization

/// The registrations of one locator: read without a lock, written under one.
///
/// An open-addressing table with linear probing, at most half full. Reading costs two dependent loads and a
/// comparison where nothing collides, takes no lock, retains nothing, and writes nothing. A parent without the
/// registration costs two loads, mostly.
///
/// What makes reading without a lock safe:
///
/// - A page and a slot that were once published live until the table dies. Readers keep the locator alive for the
///   length of their call, and with it the table; so whatever they still look at exists. Pages double, so all retired
///   pages together are no bigger than the current one. Slots are limited in number, removed ones included.
/// - A cell's key is written once and never changes. Removing a registration empties the cell's slot and leaves the
///   key, so that probing is never interrupted.
/// - A page is filled before it is published, and a cell's slot is written before its key.
/// - A table's parent is published before the table is shared, and outlives it: a locator retains its parent.
///
/// A reader that overlaps a writer sees the registrations as they were at some moment of its call. A reader that
/// begins after a writer has returned sees what was written.
///
/// `@unchecked Sendable`: an atomic pointer is not `Sendable` by itself, because the pointer says nothing about what it
/// points to. Here that is memory whose plain fields are constants and whose other fields are atomics; the list above
/// says why it exists and is filled. All other state is constant or inside the mutex.
struct RegistrationTable: ~Copyable, @unchecked Sendable {
    /// What to do about a registration that is there already.
    enum Policy: Sendable {
        case refuse, replace
    }

    enum Insertion: Sendable {
        /// What was in its place, for each slot that had a predecessor.
        case inserted(replaced: [Slot])
        case refused(Slot, existing: Slot)
        case full
        case closed
    }

    /// What readers begin with. Linked to the parent's, so that going up touches nothing that is counted.
    struct Root: ~Copyable {
        /// Nil before the first registration.
        let page = Atomic<UnsafeMutablePointer<TablePage>?>(nil)
        /// Nil for a root, and for a closed table: there the search without a lock ends, and the one that can tell begins.
        let parent: Atomic<UnsafeMutablePointer<Root>?>
        let isClosed = Atomic<Bool>(false)
        /// What may be in the page.
        let filter = KeyFilter()

        init(parent: UnsafeMutablePointer<Root>?) { self.parent = Atomic(parent) }
    }

    /// What only writers touch.
    private struct Writing {
        /// Every slot that was ever published, in order of registration; the owner of them all.
        var slots: [Slot] = []
        /// Every page that was ever published; the last one is current.
        var pages: [UnsafeMutablePointer<TablePage>] = []
        /// Cells of the current page that have a key.
        var usedCells = 0
    }

    /// What a root takes at most, and begins at a multiple of: a line of the processor's cache, so that a search that goes
    /// up loads one for each parent.
    static let lineSize = 64

    /// Constant; its fields are atomics.
    let root: UnsafeMutablePointer<Root>
    private let writing = Mutex(Writing())
    private let limit: Int

    /// - Parameters:
    ///   - limit: How many registrations there may be, removed and replaced ones included.
    ///   - parent: The root of the parent's table, which outlives this one.
    init(limit: Int, parent: UnsafeMutablePointer<Root>? = nil) {
        root = UnsafeMutableRawPointer.allocate(byteCount: Self.lineSize, alignment: Self.lineSize)
            .bindMemory(to: Root.self, capacity: 1)
        root.initialize(to: Root(parent: parent))
        self.limit = limit
    }

    deinit {
        var (slots, pages) = writing.withLock { state in
            let owned = (state.slots, state.pages)
            state.slots = []
            state.pages = []
            return owned
        }
        // Youngest first, so that a service goes before those it was built from.
        while !slots.isEmpty {
            slots.removeLast()
        }
        for page in pages { TablePage.destroy(page) }
        pages = []
        root.deinitialize(count: 1)
        root.deallocate()
    }
}

// MARK: - Reading

extension RegistrationTable {
    /// The registration under `key`, alive as long as the table. Any thread, no lock.
    func slot(for key: borrowing ServiceKey) -> Unmanaged<Slot>? {
        // Acquires the page's content, which was written before the page was published.
        guard let page = root.pointee.page.load(ordering: .acquiring) else { return nil }
        return TablePage.slot(for: key, in: page)
    }

    /// The registration under `key` in the nearest table that has one, from `root` upwards; alive as long as its table.
    static func nearestSlot(for key: borrowing ServiceKey, from root: UnsafeMutablePointer<Root>) -> Unmanaged<Slot>? {
        // Acquires as above.
        if let page = root.pointee.page.load(ordering: .acquiring),
            let slot = TablePage.slot(for: key, in: page)
        {
            return slot
        }
        let spread = key.spread
        var table = root
        // Relaxed: what it points to was complete before this table was made, and the nil of a closed table hands
        // nothing over.
        while let parent = table.pointee.parent.load(ordering: .relaxed) {
            table = parent
            guard table.pointee.filter.mayHave(spread) else { continue }
            // Acquires as above.
            if let page = table.pointee.page.load(ordering: .acquiring),
                let slot = TablePage.slot(for: key, in: page)
            {
                return slot
            }
        }
        return nil
    }

    /// The same for a key without a name, which is one word.
    @inline(__always)
    static func nearestSlot(forWord word: UInt, from root: UnsafeMutablePointer<Root>) -> Unmanaged<Slot>? {
        // All as above.
        if let page = root.pointee.page.load(ordering: .acquiring),
            let slot = TablePage.slot(forWord: word, in: page)
        {
            return slot
        }
        let spread = ServiceKey.spread(word)
        var table = root
        while let parent = table.pointee.parent.load(ordering: .relaxed) {
            table = parent
            guard table.pointee.filter.mayHave(spread) else { continue }
            if let page = table.pointee.page.load(ordering: .acquiring),
                let slot = TablePage.slot(forWord: word, in: page)
            {
                return slot
            }
        }
        return nil
    }

    /// The registrations that are there now, oldest first. Locks; for errors, graphs and closing.
    func liveSlots() -> [Slot] {
        writing.withLock { state in live(state) }
    }

    private borrowing func live(_ state: Writing) -> [Slot] {
        state.slots.filter { candidate in
            slot(for: candidate.key)?.toOpaque() == Unmanaged.passUnretained(candidate).toOpaque()
        }
    }

    /// Whether nothing can be registered any more. Any thread, no lock.
    var isClosed: Bool { root.pointee.isClosed.load(ordering: .acquiring) }
}

// MARK: - Writing

extension RegistrationTable {
    /// Puts slots under their keys, all or none. The caller withdraws what was replaced, after this has returned.
    func insert(_ slots: [Slot], policy: Policy) -> Insertion {
        writing.withLock { state in
            if isClosed { return .closed }
            for (index, slot) in slots.enumerated() {
                if let twin = slots[..<index].first(where: { $0.key == slot.key }) {
                    return .refused(slot, existing: twin)
                }
                guard policy == .refuse, let existing = self.slot(for: slot.key)?.takeUnretainedValue() else {
                    continue
                }
                return .refused(slot, existing: existing)
            }
            guard state.slots.count + slots.count <= limit else { return .full }
            return .inserted(
                replaced: slots.compactMap { slot in
                    publish(slot, replacing: self.slot(for: slot.key)?.takeUnretainedValue(), &state)
                })
        }
    }

    /// The same for one slot, which is the usual number: without arrays.
    func insert(_ slot: Slot, policy: Policy) -> Insertion {
        writing.withLock { state in
            if isClosed { return .closed }
            if policy == .refuse, let existing = self.slot(for: slot.key)?.takeUnretainedValue() {
                return .refused(slot, existing: existing)
            }
            guard state.slots.count < limit else { return .full }
            let existing = policy == .refuse ? nil : self.slot(for: slot.key)?.takeUnretainedValue()
            guard let replaced = publish(slot, replacing: existing, &state) else { return .inserted(replaced: []) }
            return .inserted(replaced: [replaced])
        }
    }

    private borrowing func publish(_ slot: Slot, replacing existing: Slot?, _ state: inout Writing) -> Slot? {
        state.slots.append(slot)
        root.pointee.filter.add(slot.key.spread)
        var page = root.pointee.page.load(ordering: .relaxed)
        if page.map({ (state.usedCells + 1) * 2 > $0.pointee.capacity }) ?? true { page = grow(&state) }
        if let page, TablePage.place(slot, replacing: existing, in: page) { state.usedCells += 1 }
        return existing
    }

    /// Takes away the registration under `key`, if it is the one with `id`. The caller withdraws it afterwards.
    func remove(_ key: ServiceKey, id: UInt64? = nil) -> Slot? {
        writing.withLock { _ in
            guard let existing = slot(for: key)?.takeUnretainedValue(), id == nil || existing.id == id,
                let page = root.pointee.page.load(ordering: .relaxed)
            else { return nil }
            TablePage.clear(existing, in: page)
            return existing
        }
    }

    /// Puts a slot that this table has published before back into the place of the one that replaced it; false if that
    /// one is there no more.
    func putBack(_ old: Slot, for new: Slot) -> Bool {
        writing.withLock { _ in
            guard slot(for: new.key)?.takeUnretainedValue() === new,
                let page = root.pointee.page.load(ordering: .relaxed)
            else { return false }
            _ = TablePage.place(old, replacing: new, in: page)
            return true
        }
    }

    /// Accepts no more registrations and lets no search without a lock go on to the parent.
    ///
    /// - Returns: The registrations that are there, oldest first; nil when it was closed before.
    func close() -> [Slot]? {
        writing.withLock { state in
            guard !isClosed else { return nil }
            root.pointee.isClosed.store(true, ordering: .releasing)
            root.pointee.parent.store(nil, ordering: .relaxed)
            return live(state)
        }
    }

    /// Publishes a bigger page with the current registrations and without removed ones.
    private borrowing func grow(_ state: inout Writing) -> UnsafeMutablePointer<TablePage> {
        let old = root.pointee.page.load(ordering: .relaxed)
        let page = TablePage.make(capacity: old.map { $0.pointee.capacity * 2 } ?? 16)
        state.usedCells = 0
        if let old { state.usedCells = TablePage.copy(from: old, to: page) }
        state.pages.append(page)
        // Releases the page and its cells to readers, who acquire it.
        root.pointee.page.store(page, ordering: .releasing)
        return page
    }
}
