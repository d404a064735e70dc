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
    /// What the place in a table is computed from: the word, and the name's hash, which is worked out once.
    private let bits: UInt

    init<Service>(_ type: Service.Type, name: String?) {
        self.init(ObjectIdentifier(type), name: name)
    }

    init(_ type: ObjectIdentifier, name: String?) {
        let address = UInt(bitPattern: type)
        self.name = name
        if let name {
            word = address | 1
            bits = word ^ UInt(bitPattern: name.hashValue)
        } else {
            word = address
            bits = address
        }
    }

    /// The key of a type's metadata address, without a name.
    init(word: UInt) {
        self.word = word
        name = nil
        bits = word
    }

    /// The type's part of the key.
    var typeWord: UInt { word & ~1 }

    /// Where the search for this key starts in a table of `1 << (UInt.bitWidth - shift)` cells.
    func firstIndex(shift: UInt) -> Int { Int(bitPattern: spread &>> shift) }

    /// What filters know this key by.
    var spread: UInt { Self.spread(bits) }

    /// One multiplication by 2^64 divided by the golden ratio moves the differences between neighbouring metadata
    /// addresses to the top, and the top bits are the index.
    @inline(__always)
    static func spread(_ bits: UInt) -> UInt { bits &* 0x9E37_79B9_7F4A_7C15 }
}
