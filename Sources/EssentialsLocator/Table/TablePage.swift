import Synchronization

/// A page of a registration table: this head, and behind it in one piece of memory its cells.
struct TablePage {
    private struct Cell: ~Copyable {
        /// The key's word, zero while the cell is empty.
        let key = Atomic<UInt>(0)
        /// Not retained here: the table owns it. Nil after its registration was removed.
        let slot = Atomic<Unmanaged<Slot>?>(nil)
    }

    /// A power of two.
    let capacity: Int
    /// What leaves of a word as many bits as an index has.
    let shift: Int

    private static let cellsOffset = 16

    /// Makes a page that is the caller's to destroy.
    static func make(capacity: Int) -> UnsafeMutablePointer<TablePage> {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: cellsOffset + capacity * MemoryLayout<Cell>.stride, alignment: 16)
        let page = memory.bindMemory(to: TablePage.self, capacity: 1)
        page.initialize(to: TablePage(capacity: capacity, shift: UInt.bitWidth - capacity.trailingZeroBitCount))
        let cells = (memory + cellsOffset).bindMemory(to: Cell.self, capacity: capacity)
        for index in 0..<capacity { (cells + index).initialize(to: Cell()) }
        return page
    }

    static func destroy(_ page: UnsafeMutablePointer<TablePage>) {
        cells(of: page).deinitialize(count: page.pointee.capacity)
        UnsafeMutableRawPointer(page).deallocate()
    }

    /// Bound to `Cell` by `make`, and there as long as the page.
    @inline(__always)
    private static func cells(of page: UnsafeMutablePointer<TablePage>) -> UnsafeMutablePointer<Cell> {
        (UnsafeMutableRawPointer(page) + cellsOffset).assumingMemoryBound(to: Cell.self)
    }

    /// The registration under `key`. Any thread, no lock.
    @inline(__always)
    static func slot(
        for key: borrowing ServiceKey, in page: UnsafeMutablePointer<TablePage>
    ) -> Unmanaged<Slot>? {
        let cells = cells(of: page)
        let mask = page.pointee.capacity &- 1
        var index = key.firstIndex(shift: page.pointee.shift)
        while true {
            // Acquires the slot that was stored before this key: a key that can be seen has its slot.
            let word = cells[index].key.load(ordering: .acquiring)
            if word == 0 { return nil }
            if word == key.word {
                // Acquires the content of a slot that replaced another one under the same key.
                let slot = cells[index].slot.load(ordering: .acquiring)
                if key.name == nil { return slot }
                if let slot, slot._withUnsafeGuaranteedRef({ $0.key.name == key.name }) { return slot }
            }
            index = (index + 1) & mask
        }
    }

    /// The same for a key without a name, which is one word.
    @inline(__always)
    static func slot(forWord word: UInt, in page: UnsafeMutablePointer<TablePage>) -> Unmanaged<Slot>? {
        let cells = cells(of: page)
        let mask = page.pointee.capacity &- 1
        var index = ServiceKey.firstIndex(word, shift: page.pointee.shift)
        while true {
            // Both as above.
            let found = cells[index].key.load(ordering: .acquiring)
            if found == word { return cells[index].slot.load(ordering: .acquiring) }
            if found == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    // MARK: Writing, under the table's lock

    /// Stores `slot` in the cell of the slot it replaces, or else in a free one; true if that cell had no key.
    static func place(
        _ slot: Slot, replacing existing: Slot?, in page: UnsafeMutablePointer<TablePage>
    ) -> Bool {
        let cell = cells(of: page) + findCell(for: slot.key, holding: existing, in: page)
        let isNew = cell.pointee.key.load(ordering: .relaxed) == 0
        // Releases the slot's content: a reader may know the key already, from the registration before this one.
        cell.pointee.slot.store(Unmanaged.passUnretained(slot), ordering: .releasing)
        if isNew {
            // Last, and releasing: whoever sees the key sees the slot.
            cell.pointee.key.store(slot.key.word, ordering: .releasing)
        }
        return isNew
    }

    /// Empties the cell of a slot.
    static func clear(_ slot: Slot, in page: UnsafeMutablePointer<TablePage>) {
        let index = findCell(for: slot.key, holding: slot, in: page)
        // Nothing is handed over with nil, so there is nothing to release.
        cells(of: page)[index].slot.store(nil, ordering: .relaxed)
    }

    /// Copies what is registered; the number of cells that this took.
    static func copy(
        from old: UnsafeMutablePointer<TablePage>, to new: UnsafeMutablePointer<TablePage>
    ) -> Int {
        var count = 0
        let cells = cells(of: old)
        for index in 0..<old.pointee.capacity {
            guard let slot = cells[index].slot.load(ordering: .relaxed) else { continue }
            _ = place(slot.takeUnretainedValue(), replacing: nil, in: new)
            count += 1
        }
        return count
    }

    /// The cell that holds `existing`, or with nil the first one that can take the key: emptied with an equal word, or
    /// never used.
    ///
    /// A cell emptied under another name of the same type may be reused, because every cell between the key's first
    /// index and it has a key, which is all that probing asks for.
    private static func findCell(
        for key: ServiceKey, holding existing: Slot?, in page: UnsafeMutablePointer<TablePage>
    ) -> Int {
        let cells = cells(of: page)
        var index = key.firstIndex(shift: page.pointee.shift)
        while true {
            let word = cells[index].key.load(ordering: .relaxed)
            if word == 0 { return index }
            if word == key.word {
                let held = cells[index].slot.load(ordering: .relaxed)
                if held?.toOpaque() == existing.map({ Unmanaged.passUnretained($0).toOpaque() }) { return index }
            }
            index = (index + 1) & (page.pointee.capacity - 1)
        }
    }
}
