import Synchronization

/// What a search without a lock has found: a service to be copied, an object to be loaded, a factory to be run, a slot to
/// be asked, or nothing.
///
/// One word, so that a table's cell holds it and it comes back in a register: the address of the service's memory, or
/// that of the slot with the lowest bit set, the next one too for a weak slot that can be asked at once, the third for a
/// transient one; no address of these has them. Nothing is retained; all of it lives as long as the locator that was searched.
@usableFromInline
struct Found {
    @usableFromInline
    let word: UInt

    @inline(__always)
    init(word: UInt) { self.word = word }

    /// What was found is to be asked by whoever notes which services a factory resolves.
    init(_ slot: Unmanaged<Slot>?) {
        guard let slot else {
            word = 0
            return
        }
        word = resolvesAreNoted ? Self.word(asking: slot) : slot._withUnsafeGuaranteedRef { Self.word(for: $0) }
    }

    /// What a slot is found as while its locator is open, outside of factories.
    static func word(for slot: Slot) -> UInt {
        if slot.isReady, let storage = slot.storage { return UInt(bitPattern: storage) }
        let asked = word(asking: .passUnretained(slot))
        guard slot.state.load(ordering: .acquiring) == .dynamic else { return asked }
        guard slot.canAnswerAtOnce else { return asked }
        return asked | (slot.kind == .weak ? 2 : 4)
    }

    /// What a slot is found as that has to be asked.
    @inline(__always)
    static func word(asking slot: Unmanaged<Slot>) -> UInt { UInt(bitPattern: slot.toOpaque()) | 1 }

    /// The memory of a service that is simply there.
    @inlinable @inline(__always)
    var storage: UnsafeRawPointer? { word & 1 == 0 ? UnsafeRawPointer(bitPattern: word) : nil }

    /// The slot to be asked, if it can answer without a locator and without failing.
    @inlinable @inline(__always)
    var weakSlot: Unmanaged<WeakSlot>? {
        guard word & 3 == 3, let address = UnsafeRawPointer(bitPattern: word & ~7) else { return nil }
        // Only slots of this class say that they are weak.
        return .fromOpaque(address)
    }

    /// The slot whose factory may be run at once.
    @inlinable @inline(__always)
    var transientSlot: Unmanaged<TransientSlot>? {
        guard word & 5 == 5, let address = UnsafeRawPointer(bitPattern: word & ~7) else { return nil }
        // Only slots of this class say that they are.
        return .fromOpaque(address)
    }

    /// The slot to be asked.
    var slot: Unmanaged<Slot>? {
        guard word & 1 == 1, let address = UnsafeRawPointer(bitPattern: word & ~7) else { return nil }
        return .fromOpaque(address)
    }
}
