import Synchronization

/// A page of a registration table: cells that readers look at, and behind them in one piece of memory the slots.
///
/// A cell says in one word what a reader does with its registration, as ``Found`` reads it. So a reader that finds a
/// service that is simply there never touches its slot.
enum TablePage {
    fileprivate struct Cell: ~Copyable {
        /// The key's word, zero while the cell is empty.
        let key = Atomic<UInt>(0)
        /// What a search finds here; zero after the registration was removed.
        let found = Atomic<UInt>(0)
    }

    /// Not retained here: the table owns them. Nil after the registration was removed.
    fileprivate typealias CellSlot = Atomic<Unmanaged<Slot>?>

    /// Where a page is, and how many cells it has, in one word: a reader need not look into the page for that.
    ///
    /// The lowest bits hold the shift that leaves of a word as many bits as an index has; pages begin where an address has
    /// none of them.
    struct Address: AtomicRepresentable, Equatable {
        typealias AtomicRepresentation = UInt.AtomicRepresentation

        /// A page without cells.
        static let null = Address(bits: 0)

        private static let shiftMask: UInt = 63
        fileprivate static let alignment = 64

        private let bits: UInt

        private init(bits: UInt) { self.bits = bits }

        fileprivate init(_ memory: UnsafeMutableRawPointer, capacity: Int) {
            bits = UInt(bitPattern: memory) | UInt(bitPattern: UInt.bitWidth - capacity.trailingZeroBitCount)
        }

        static func encodeAtomicRepresentation(_ value: consuming Address) -> AtomicRepresentation {
            UInt.encodeAtomicRepresentation(value.bits)
        }

        static func decodeAtomicRepresentation(_ representation: consuming AtomicRepresentation) -> Address {
            Address(bits: UInt.decodeAtomicRepresentation(representation))
        }

        @inline(__always)
        fileprivate var isNull: Bool { bits == 0 }

        /// Between 4 and 60 bits: no page has fewer than 16 cells.
        @inline(__always)
        fileprivate var shift: UInt { bits & Self.shiftMask }

        /// The index of the last cell.
        @inline(__always)
        fileprivate var mask: Int { Int(bitPattern: UInt.max &>> shift) }

        /// A power of two, or zero for the null page.
        var capacity: Int { isNull ? 0 : mask + 1 }

        @inline(__always)
        fileprivate var memory: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: bits & ~Self.shiftMask) }
    }

    /// Makes a page that is the caller's to destroy.
    ///
    /// - Parameter capacity: A power of two, at least 16.
    static func make(capacity: Int) -> Address {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * (MemoryLayout<Cell>.stride + MemoryLayout<CellSlot>.stride),
            alignment: Address.alignment)
        let cells = memory.bindMemory(to: Cell.self, capacity: capacity)
        let slots = (memory + capacity * MemoryLayout<Cell>.stride).bindMemory(to: CellSlot.self, capacity: capacity)
        for index in 0..<capacity {
            (cells + index).initialize(to: Cell())
            (slots + index).initialize(to: CellSlot(nil))
        }
        return Address(memory, capacity: capacity)
    }
}

// MARK: - Reading. Any thread, no lock.

extension TablePage.Address {
    /// The registration under `key`.
    func slot(for key: borrowing ServiceKey) -> Unmanaged<Slot>? {
        guard let cells, let slots else { return nil }
        var index = key.firstIndex(shift: shift)
        while true {
            // Acquires the slot that was stored before this key: a key that can be seen has its slot.
            let word = cells[index].key.load(ordering: .acquiring)
            if word == 0 { return nil }
            if word == key.word {
                // Acquires the content of a slot that replaced another one under the same key.
                let slot = slots[index].load(ordering: .acquiring)
                if key.name == nil { return slot }
                if let slot, slot._withUnsafeGuaranteedRef({ $0.key.name == key.name }) { return slot }
            }
            index = (index + 1) & mask
        }
    }

    /// The first cell that ``found(forWord:_:)`` looks at; with zero for a key there is nothing to be found.
    @inline(__always)
    func first(forWord word: UInt, _ spread: UInt) -> (key: UInt, found: UInt) {
        guard let cells else { return (0, 0) }
        let index = Int(bitPattern: spread &>> shift)
        // Both as above.
        let key = cells[index].key.load(ordering: .acquiring)
        return (key, key == word ? cells[index].found.load(ordering: .acquiring) : 0)
    }

    /// What is found under a key without a name, which is one word, given with what it spreads to; zero for nothing.
    @inline(__always)
    func found(forWord word: UInt, _ spread: UInt) -> UInt {
        guard let cells else { return 0 }
        var index = Int(bitPattern: spread &>> shift)
        while true {
            // Both as above; and what a word of a cell leads to was written before that word.
            let key = cells[index].key.load(ordering: .acquiring)
            if key == word { return cells[index].found.load(ordering: .acquiring) }
            if key == 0 { return 0 }
            index = (index &+ 1) & mask
        }
    }

    /// Bound by `make`, and there as long as the page. Nil for the null page.
    @inline(__always)
    private var cells: UnsafeMutablePointer<TablePage.Cell>? {
        memory?.assumingMemoryBound(to: TablePage.Cell.self)
    }

    /// As ``cells``.
    @inline(__always)
    private var slots: UnsafeMutablePointer<TablePage.CellSlot>? {
        memory.map {
            ($0 + capacity * MemoryLayout<TablePage.Cell>.stride).assumingMemoryBound(to: TablePage.CellSlot.self)
        }
    }
}

// MARK: - Writing, under the table's lock

extension TablePage.Address {
    func destroy() {
        cells?.deinitialize(count: capacity)
        slots?.deinitialize(count: capacity)
        memory?.deallocate()
    }

    /// Stores `slot` in the cell of the slot it replaces, or else in a free one; true if that cell had no key.
    func place(_ slot: Slot, replacing existing: Slot?) -> Bool {
        guard let cells, let slots else { return false }
        let index = findCell(for: slot.key, holding: existing)
        let isNew = cells[index].key.load(ordering: .relaxed) == 0
        // Both release the slot's content: a reader may know the key already, from the registration before this one.
        slots[index].store(.passUnretained(slot), ordering: .releasing)
        cells[index].found.store(Found.word(for: slot), ordering: .releasing)
        if isNew {
            // Last, and releasing: whoever sees the key sees the slot.
            cells[index].key.store(slot.key.word, ordering: .releasing)
        }
        return isNew
    }

    /// Says anew what a search finds in the cell of a slot. Releases what the slot stored.
    func renew(_ slot: Slot) {
        guard let cells else { return }
        cells[findCell(for: slot.key, holding: slot)].found.store(Found.word(for: slot), ordering: .releasing)
    }

    /// Empties the cell of a slot.
    func clear(_ slot: Slot) {
        guard let cells, let slots else { return }
        let index = findCell(for: slot.key, holding: slot)
        // Nothing is handed over with nothing, so there is nothing to release.
        cells[index].found.store(0, ordering: .relaxed)
        slots[index].store(nil, ordering: .relaxed)
    }

    /// Sends every search to the slot that it finds, which knows whether it was closed.
    func letSlotsAnswer() {
        guard let cells, let slots else { return }
        for index in 0..<capacity {
            guard let slot = slots[index].load(ordering: .relaxed) else { continue }
            cells[index].found.store(Found.word(asking: slot), ordering: .releasing)
        }
    }

    /// Takes over what is registered in another page; the number of cells that this took.
    func copy(from old: TablePage.Address) -> Int {
        guard let slots = old.slots else { return 0 }
        var count = 0
        for index in 0..<old.capacity {
            guard let slot = slots[index].load(ordering: .relaxed) else { continue }
            _ = place(slot.takeUnretainedValue(), replacing: nil)
            count += 1
        }
        return count
    }

    /// The cell that holds `existing`, or with nil the first one that can take the key: emptied with an equal word, or
    /// never used.
    ///
    /// A cell emptied under another name of the same type may be reused, because every cell between the key's first
    /// index and it has a key, which is all that probing asks for.
    private func findCell(for key: ServiceKey, holding existing: Slot?) -> Int {
        guard let cells, let slots else { return 0 }
        var index = key.firstIndex(shift: shift)
        while true {
            let word = cells[index].key.load(ordering: .relaxed)
            if word == 0 { return index }
            if word == key.word {
                let held = slots[index].load(ordering: .relaxed)
                if held?.toOpaque() == existing.map({ Unmanaged.passUnretained($0).toOpaque() }) { return index }
            }
            index = (index + 1) & mask
        }
    }
}
