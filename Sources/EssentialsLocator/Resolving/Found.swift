/// What a search without a lock has found: a service to be copied, a slot to be asked, or nothing.
///
/// One word, so that it comes back in a register: the address of the service's memory, or that of the slot with the lowest
/// bit set, which no address of either has. Neither is retained; both live as long as the locator that was searched.
@usableFromInline
struct Found {
    @usableFromInline
    let word: UInt

    @inline(__always)
    init(_ slot: Unmanaged<Slot>?) {
        guard let slot else {
            word = 0
            return
        }
        let ready = slot._withUnsafeGuaranteedRef { $0.readyWord }
        word = ready != 0 ? ready : UInt(bitPattern: slot.toOpaque()) | 1
    }

    /// The memory of a service that is simply there.
    @inlinable @inline(__always)
    var storage: UnsafeRawPointer? { word & 1 == 0 ? UnsafeRawPointer(bitPattern: word) : nil }

    /// The slot to be asked.
    var slot: Unmanaged<Slot>? {
        guard word & 1 == 1, let address = UnsafeRawPointer(bitPattern: word & ~1) else { return nil }
        return .fromOpaque(address)
    }
}
