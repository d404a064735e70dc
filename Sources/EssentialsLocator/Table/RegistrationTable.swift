import Synchronization

/// The registrations of one locator: read without a lock, written under one.
///
/// An open-addressing table with linear probing, at most half full. Reading costs three loads that wait for each other
/// and a comparison where nothing collides, takes no lock, retains nothing, and writes nothing. A parent without the
/// registration costs two loads, mostly, which do not wait for those of another parent.
///
/// What makes reading without a lock safe:
///
/// - A page and a slot that were once published live until the table dies. Readers keep the locator alive for the
///   length of their call, and with it the table; so whatever they still look at exists. Pages double, so all retired
///   pages together are no bigger than the current one. Slots are limited in number, removed ones included.
/// - A cell's key is written once and never changes. Removing a registration empties the cell's slot and leaves the
///   key, so that probing is never interrupted.
/// - A page is filled before it is published, and a cell's slot is written before its key.
/// - A table's ancestors are written down before the table is shared, and outlive it: a locator retains its parent.
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

    /// What readers begin with. Behind it in the same memory stand the roots of the ancestors, the nearest first, so that
    /// a search upwards need not learn from one parent where the next one is, and touches nothing that is counted.
    struct Root: ~Copyable {
        /// The null page before the first registration.
        let page = Atomic<TablePage.Address>(.null)
        /// How many ancestors are searched without a lock: none of a closed table, for the search that can tell begins there.
        let depth: Atomic<Int>
        let isClosed = Atomic<Bool>(false)
        /// What may be in the page; of a closed table, everything.
        let filter = KeyFilter()

        init(depth: Int) { self.depth = Atomic(depth) }
    }

    /// What only writers touch.
    private struct Writing {
        /// Every slot that was ever published, in order of registration; the owner of them all.
        var slots: [Slot] = []
        /// Every page that was ever published; the last one is current.
        var pages: [TablePage.Address] = []
        /// Cells of the current page that have a key.
        var usedCells = 0
    }

    /// What a root takes at most, and begins at a multiple of: a line of the processor's cache. Ancestors begin behind it.
    static let lineSize = 64

    /// Constant; its fields are atomics.
    let root: UnsafeMutablePointer<Root>
    /// The same page as the root's, here too for searches that begin here: one load less that others wait for.
    private let page = Atomic<TablePage.Address>(.null)
    /// The nearest ancestor, nil for a root: here too for the same reason.
    private let parent: UnsafeMutablePointer<Root>?
    private let writing = Mutex(Writing())
    private let limit: Int

    /// - Parameters:
    ///   - limit: How many registrations there may be, removed and replaced ones included.
    ///   - parent: The root of the parent's table, which outlives this one.
    init(limit: Int, parent: UnsafeMutablePointer<Root>? = nil) {
        // A parent that is closed shows no ancestors, and needs none: no search goes beyond it.
        let above = parent.map { $0.pointee.depth.load(ordering: .relaxed) } ?? 0
        let depth = parent == nil ? 0 : above + 1
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Self.lineSize + depth * MemoryLayout<UnsafeMutablePointer<Root>>.stride, alignment: Self.lineSize
        )
        root = memory.bindMemory(to: Root.self, capacity: 1)
        root.initialize(to: Root(depth: depth))
        let ancestors = (memory + Self.lineSize).bindMemory(to: UnsafeMutablePointer<Root>.self, capacity: depth)
        if let parent {
            ancestors.initialize(to: parent)
            (ancestors + 1).initialize(from: Self.ancestors(of: parent), count: above)
        }
        self.parent = parent
        self.limit = limit
    }

    /// Where the ancestors of a root stand, bound by `init`; there are as many as its depth was at first.
    @inline(__always)
    private static func ancestors(of root: UnsafeMutablePointer<Root>) -> UnsafePointer<UnsafeMutablePointer<Root>> {
        let memory = UnsafeRawPointer(root) + lineSize
        return memory.assumingMemoryBound(to: UnsafeMutablePointer<Root>.self)
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
        for page in pages { page.destroy() }
        pages = []
        root.deinitialize(count: 1)
        root.deallocate()
    }
}

// MARK: - Reading

extension RegistrationTable {
    /// The registration under `key`, alive as long as the table. Any thread, no lock.
    func slot(for key: borrowing ServiceKey) -> Unmanaged<Slot>? { Self.slot(for: key, in: root) }

    private static func slot(for key: borrowing ServiceKey, in root: UnsafeMutablePointer<Root>) -> Unmanaged<Slot>? {
        // Acquires the page's content, which was written before the page was published.
        root.pointee.page.load(ordering: .acquiring).slot(for: key)
    }

    /// The registration under `key` in the nearest table that has one, from `root` upwards; alive as long as its table.
    static func nearestSlot(for key: borrowing ServiceKey, from root: UnsafeMutablePointer<Root>) -> Unmanaged<Slot>? {
        if let slot = slot(for: key, in: root) { return slot }
        let spread = key.spread
        let ancestors = ancestors(of: root)
        // Relaxed: the ancestors were written down before this table was shared, and zero hands nothing over.
        for level in 0..<root.pointee.depth.load(ordering: .relaxed) {
            let table = ancestors[level]
            guard table.pointee.filter.mayHave(spread) else { continue }
            if let slot = slot(for: key, in: table) { return slot }
            if table.pointee.isClosed.load(ordering: .acquiring) { return nil }
        }
        return nil
    }

    /// The same for a key without a name, which is one word, from this table upwards; what is found is the word that the
    /// cell says it by.
    ///
    /// Three parts, of which each goes on in the next, so that none saves registers for what only the next one does: the
    /// first cell of this table and of its parent, the first cells of the ancestors, and all cells.
    @inline(__always)
    func nearest(forWord word: UInt) -> UInt {
        let spread = ServiceKey.spread(word)
        // Acquires as above.
        let (key, found) = page.load(ordering: .acquiring).first(forWord: word, spread)
        if key == word, found != 0 { return found }
        guard key == 0 else { return Self.searchAll(forWord: word, spread, from: root) }
        guard let parent, root.pointee.depth.load(ordering: .relaxed) > 0 else { return 0 }
        let (parentKey, parentFound) = parent.pointee.page.load(ordering: .acquiring).first(forWord: word, spread)
        if parentKey == word, parentFound != 0 { return parentFound }
        // A closed parent ends the search, also where it never had the key. A branch, so that nobody waits for this load.
        if parentKey == 0, parent.pointee.isClosed.load(ordering: .acquiring) { return 0 }
        return Self.search(forWord: word, spread, above: root, from: parentKey == 0 ? 1 : 0)
    }

    @inline(never)
    private static func search(
        forWord word: UInt, _ spread: UInt, above root: UnsafeMutablePointer<Root>, from first: Int
    ) -> UInt {
        let ancestors = ancestors(of: root)
        let depth = root.pointee.depth.load(ordering: .relaxed)
        var level = first
        while level < depth {
            let table = ancestors[level]
            if table.pointee.filter.mayHave(spread) {
                let (key, found) = table.pointee.page.load(ordering: .acquiring).first(forWord: word, spread)
                if key == word, found != 0 { return found }
                if key != 0 || table.pointee.isClosed.load(ordering: .acquiring) {
                    return searchAll(forWord: word, spread, from: root)
                }
            }
            level &+= 1
        }
        return 0
    }

    @inline(never)
    private static func searchAll(forWord word: UInt, _ spread: UInt, from root: UnsafeMutablePointer<Root>) -> UInt {
        let found = root.pointee.page.load(ordering: .acquiring).found(forWord: word, spread)
        if found != 0 { return found }
        let ancestors = ancestors(of: root)
        for level in 0..<root.pointee.depth.load(ordering: .relaxed) {
            let table = ancestors[level]
            guard table.pointee.filter.mayHave(spread) else { continue }
            let found = table.pointee.page.load(ordering: .acquiring).found(forWord: word, spread)
            if found != 0 { return found }
            if table.pointee.isClosed.load(ordering: .acquiring) { return 0 }
        }
        return 0
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
        if (state.usedCells + 1) * 2 > page.capacity { page = grow(&state) }
        if page.place(slot, replacing: existing) { state.usedCells += 1 }
        return existing
    }

    /// Takes away the registration under `key`, if it is the one with `id`. The caller withdraws it afterwards.
    func remove(_ key: ServiceKey, id: UInt64? = nil) -> Slot? {
        writing.withLock { _ in
            guard let existing = slot(for: key)?.takeUnretainedValue(), id == nil || existing.id == id else {
                return nil
            }
            root.pointee.page.load(ordering: .relaxed).clear(existing)
            return existing
        }
    }

    /// Puts a slot that this table has published before back into the place of the one that replaced it; false if that
    /// one is there no more.
    func putBack(_ old: Slot, for new: Slot) -> Bool {
        writing.withLock { _ in
            guard !isClosed, slot(for: new.key)?.takeUnretainedValue() === new else { return false }
            _ = root.pointee.page.load(ordering: .relaxed).place(old, replacing: new)
            return true
        }
    }

    /// Lets readers know that a slot can be asked less than before, if it is still there.
    func renew(_ changed: Slot) {
        writing.withLock { _ in
            guard !isClosed, slot(for: changed.key)?.takeUnretainedValue() === changed else { return }
            root.pointee.page.load(ordering: .relaxed).renew(changed)
        }
    }

    /// Accepts no more registrations and lets no search without a lock go on to the parent.
    ///
    /// - Returns: The registrations that are there, oldest first; nil when it was closed before.
    func close() -> [Slot]? {
        writing.withLock { state in
            guard !isClosed else { return nil }
            root.pointee.isClosed.store(true, ordering: .releasing)
            // In this order: who sees the filter full sees that the table is closed.
            root.pointee.filter.fill()
            root.pointee.depth.store(0, ordering: .relaxed)
            root.pointee.page.load(ordering: .relaxed).letSlotsAnswer()
            return live(state)
        }
    }

    /// Publishes a bigger page with the current registrations and without removed ones.
    private borrowing func grow(_ state: inout Writing) -> TablePage.Address {
        let old = root.pointee.page.load(ordering: .relaxed)
        let page = TablePage.make(capacity: max(16, old.capacity * 2))
        state.usedCells = page.copy(from: old)
        state.pages.append(page)
        // Both release the page and its cells to readers, who acquire it.
        root.pointee.page.store(page, ordering: .releasing)
        self.page.store(page, ordering: .releasing)
        return page
    }
}
