/// What a registration is found by: the registered type, and a name for types that are registered more than once.
///
/// The type counts by its metadata, not by its spelling. A protocol that is linked into a process twice is two types,
/// and each has its own key.
struct ServiceKey: Sendable, Hashable {
    /// The registered type's metadata address, with the lowest bit set when there is a name.
    ///
    /// Metadata is aligned to a word, so that bit is free, and no key is zero, which marks an empty cell.
    let word: UInt
    /// The name, nil for the registration that is found without one.
    let name: String?

    init<Service>(_ type: Service.Type, name: String?) {
        self.init(ObjectIdentifier(type), name: name)
    }

    init(_ type: ObjectIdentifier, name: String?) {
        let address = UInt(bitPattern: type)
        self.word = name == nil ? address : address | 1
        self.name = name
    }

    /// The type's part of the key.
    var typeWord: UInt { word & ~1 }

    /// Where the search for this key starts in a table of `1 << (UInt.bitWidth - shift)` cells.
    ///
    /// One multiplication by 2^64 divided by the golden ratio moves the differences between neighbouring metadata
    /// addresses to the top, and the top bits are the index.
    func firstIndex(shift: Int) -> Int {
        guard let name else { return Self.firstIndex(word, shift: shift) }
        return Self.firstIndex(word ^ UInt(bitPattern: name.hashValue), shift: shift)
    }

    /// The same for a word that needs no name.
    @inline(__always)
    static func firstIndex(_ word: UInt, shift: Int) -> Int {
        Int(bitPattern: (word &* 0x9E37_79B9_7F4A_7C15) &>> UInt(bitPattern: shift))
    }
}
