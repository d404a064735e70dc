import Synchronization

/// Says of most keys that a table has never had them, for the price of one load.
///
/// A search that goes up through many locators finds nothing in all of them but one. Of 20 registrations each, one search
/// in thirteen looks into a table in vain; a removed registration stays in the filter.
///
/// A key is added before it is published. So whoever must see a registration sees its bit, which is older; and whoever
/// overlaps with the registering may miss both, as if it had come before. Relaxed, because nothing is handed over with it.
struct KeyFilter: ~Copyable {
    /// 256 bits, so that with its root it fills one line of the processor's cache.
    private let words: InlineArray<4, Atomic<UInt>> = InlineArray { _ in Atomic(0) }

    /// The bits of `spread` in the middle: those at the top choose the cell of a page.
    @inline(__always)
    private static func place(of spread: UInt) -> (word: Int, bit: UInt) {
        (Int(bitPattern: (spread &>> 38) & 3), 1 &<< ((spread &>> 32) & 63))
    }

    /// False if no key that spreads so was ever added. Any thread.
    @inline(__always)
    borrowing func mayHave(_ spread: UInt) -> Bool {
        let (word, bit) = Self.place(of: spread)
        return words[unchecked: word].load(ordering: .relaxed) & bit != 0
    }

    /// Under the table's lock.
    borrowing func add(_ spread: UInt) {
        let (word, bit) = Self.place(of: spread)
        words[word].bitwiseOr(bit, ordering: .relaxed)
    }
    /// Says of every key that it may be there, so that a search looks. Releases what was written before.
    borrowing func fill() {
        for index in words.indices { words[index].store(.max, ordering: .releasing) }
    }
}
