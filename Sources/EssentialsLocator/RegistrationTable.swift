import Synchronization

/// The registrations of one locator: read without a lock, written under one.
///
/// An open-addressing table with linear probing, at most half full. Reading costs two dependent loads and a
/// comparison where nothing collides, takes no lock, retains nothing, and writes nothing.
///
/// What makes reading without a lock safe:
///
/// - A page and a slot that were once published live until the table dies. Readers keep the locator alive for the
///   length of their call, and with it the table; so whatever they still look at exists. Pages double, so all retired
///   pages together are no bigger than the current one. Slots are limited in number, removed ones included.
/// - A cell's key is written once and never changes. Removing a registration empties the cell's slot and leaves the
///   key, so that probing is never interrupted.
/// - A page is filled before it is published, and a cell's slot is written before its key.
///
/// A reader that overlaps a writer sees the registrations as they were at some moment of its call. A reader that
/// begins after a writer has returned sees what was written.
///
/// `@unchecked Sendable`: an atomic pointer is not `Sendable` by itself, because the pointer says nothing about what it
/// points to. Here that is a page, whose two properties are constants and whose cells are atomics; the list above says
/// why it exists and is filled. All other state is constant or inside the mutex.
struct RegistrationTable: ~Copyable, @unchecked Sendable {
    /// What to do about a registration that is there already.
    enum Policy: Sendable {
        case refuse, replace
    }

    enum Insertion: Sendable {
        case inserted(replaced: Slot?)
        case refused(existing: Slot)
        case full
    }

    private struct Cell: ~Copyable {
        /// The key's word, zero while the cell is empty.
        let key = Atomic<UInt>(0)
        /// Not retained here: ``Writing/slots`` owns it. Nil after its registration was removed.
        let slot = Atomic<Unmanaged<Slot>?>(nil)
    }

    private struct Page {
        let cells: UnsafeMutablePointer<Cell>
        let capacity: Int

        var mask: Int { capacity - 1 }
        var shift: Int { UInt.bitWidth - capacity.trailingZeroBitCount }

        /// `capacity` is a power of two.
        init(capacity: Int) {
            self.capacity = capacity
            cells = .allocate(capacity: capacity)
            for index in 0..<capacity {
                (cells + index).initialize(to: Cell())
            }
        }

        func destroy() {
            cells.deinitialize(count: capacity)
            cells.deallocate()
        }
    }

    /// What only writers touch.
    private struct Writing {
        /// Every slot that was ever published, in order of registration; the owner of them all.
        var slots: [Slot] = []
        /// Every page that was ever published; the last one is current.
        var pages: [UnsafeMutablePointer<Page>]
        /// Cells of the current page that have a key.
        var usedCells = 0
    }

    private let current: Atomic<UnsafeMutablePointer<Page>>
    private let writing: Mutex<Writing>
    private let limit: Int

    /// - Parameter limit: How many registrations there may be, removed and replaced ones included.
    init(limit: Int) {
        let page = UnsafeMutablePointer<Page>.allocate(capacity: 1)
        page.initialize(to: Page(capacity: 16))
        current = Atomic(page)
        writing = Mutex(Writing(pages: [page]))
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
        for page in pages {
            page.pointee.destroy()
            page.deinitialize(count: 1)
            page.deallocate()
        }
        pages = []
    }
}

// MARK: - Reading

extension RegistrationTable {
    /// The registration under `key`, alive as long as the table. Any thread, no lock.
    func slot(for key: borrowing ServiceKey) -> Unmanaged<Slot>? {
        // Acquires the page's content, which was written before the page was published.
        let page = current.load(ordering: .acquiring).pointee
        var index = key.firstIndex(shift: page.shift)
        while true {
            // Acquires the slot that was stored before this key: a key that can be seen has its slot.
            let word = page.cells[index].key.load(ordering: .acquiring)
            if word == 0 { return nil }
            if word == key.word {
                // Acquires the content of a slot that replaced another one under the same key.
                let slot = page.cells[index].slot.load(ordering: .acquiring)
                if key.name == nil { return slot }
                if let slot, slot._withUnsafeGuaranteedRef({ $0.key.name == key.name }) { return slot }
            }
            index = (index + 1) & page.mask
        }
    }

    /// The registrations that are there now, oldest first. Locks; for error texts.
    func liveSlots() -> [Slot] {
        writing.withLock { state in
            state.slots.filter { candidate in
                slot(for: candidate.key)?.toOpaque() == Unmanaged.passUnretained(candidate).toOpaque()
            }
        }
    }
}

// MARK: - Writing

extension RegistrationTable {
    /// Puts `slot` under its key. The caller withdraws what was replaced, after this has returned.
    func insert(_ slot: Slot, policy: Policy) -> Insertion {
        writing.withLock { state in
            let existing = self.slot(for: slot.key)?.takeUnretainedValue()
            if let existing, policy == .refuse { return .refused(existing: existing) }
            guard state.slots.count < limit else { return .full }
            state.slots.append(slot)
            var page = current.load(ordering: .relaxed)
            if (state.usedCells + 1) * 2 > page.pointee.capacity {
                page = grow(&state)
            }
            if Self.place(slot, replacing: existing, in: page.pointee) {
                state.usedCells += 1
            }
            return .inserted(replaced: existing)
        }
    }

    /// Takes away the registration under `key`. The caller withdraws it, after this has returned.
    func remove(_ key: ServiceKey) -> Slot? {
        writing.withLock { _ in
            guard let existing = slot(for: key)?.takeUnretainedValue() else { return nil }
            let page = current.load(ordering: .relaxed).pointee
            let index = Self.findCell(for: key, holding: existing, in: page)
            // Nothing is handed over with nil, so there is nothing to release.
            page.cells[index].slot.store(nil, ordering: .relaxed)
            return existing
        }
    }

    /// Publishes a bigger page with the current registrations and without removed ones.
    private func grow(_ state: inout Writing) -> UnsafeMutablePointer<Page> {
        let old = current.load(ordering: .relaxed).pointee
        let page = UnsafeMutablePointer<Page>.allocate(capacity: 1)
        page.initialize(to: Page(capacity: old.capacity * 2))
        state.usedCells = 0
        for index in 0..<old.capacity {
            guard let slot = old.cells[index].slot.load(ordering: .relaxed) else { continue }
            _ = Self.place(slot.takeUnretainedValue(), replacing: nil, in: page.pointee)
            state.usedCells += 1
        }
        state.pages.append(page)
        // Releases the page and its cells to readers, who acquire it.
        current.store(page, ordering: .releasing)
        return page
    }

    /// Stores `slot` in the cell of the slot it replaces, or else in a free one; true if that cell had no key.
    private static func place(_ slot: Slot, replacing existing: Slot?, in page: Page) -> Bool {
        let index = findCell(for: slot.key, holding: existing, in: page)
        let isNew = page.cells[index].key.load(ordering: .relaxed) == 0
        // Releases the slot's content: a reader may know the key already, from the registration before this one.
        page.cells[index].slot.store(Unmanaged.passUnretained(slot), ordering: .releasing)
        if isNew {
            // Last, and releasing: whoever sees the key sees the slot.
            page.cells[index].key.store(slot.key.word, ordering: .releasing)
        }
        return isNew
    }

    /// The cell that holds `existing`, or with nil the first one that can take the key: emptied with an equal word, or
    /// never used.
    ///
    /// A cell emptied under another name of the same type may be reused, because every cell between the key's first
    /// index and it has a key, which is all that probing asks for.
    private static func findCell(for key: ServiceKey, holding existing: Slot?, in page: Page) -> Int {
        var index = key.firstIndex(shift: page.shift)
        while true {
            let word = page.cells[index].key.load(ordering: .relaxed)
            if word == 0 { return index }
            if word == key.word {
                let held = page.cells[index].slot.load(ordering: .relaxed)
                if held?.toOpaque() == existing.map({ Unmanaged.passUnretained($0).toOpaque() }) { return index }
            }
            index = (index + 1) & page.mask
        }
    }
}
