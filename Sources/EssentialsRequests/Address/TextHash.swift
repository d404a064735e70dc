/// A hash of bytes, with a secret that differs in each process.
///
/// Words of eight bytes are multiplied to 128 bits and folded. For the short texts of a look-up this takes a small part
/// of the time of the library's hasher. Whoever chooses paths cannot choose collisions without knowing the secret.
struct TextHash: Sendable {
    /// The library's hasher has a random seed.
    private static let secrets: (UInt64, UInt64) = (secret(1), secret(2))

    private var state = TextHash.secrets.0

    /// Adds the bytes as one piece. The same bytes in other pieces give another hash.
    package mutating func combine(_ bytes: UnsafeBufferPointer<UInt8>) {
        let factor = Self.secrets.1
        let raw = UnsafeRawBufferPointer(bytes)
        var hash = Self.folded(state ^ UInt64(truncatingIfNeeded: bytes.count), factor)
        var index = 0
        while index + 8 <= raw.count {
            hash = Self.folded(hash ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self), factor)
            index += 8
        }
        var rest: UInt64 = 0
        while index < raw.count {
            rest = rest << 8 | UInt64(raw[index])
            index += 1
        }
        state = Self.folded(hash ^ rest, factor)
    }

    /// The hash of all pieces.
    package var value: Int { Int(truncatingIfNeeded: state) }

    private static func folded(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }

    private static func secret(_ number: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        // An odd factor loses no bits.
        return UInt64(truncatingIfNeeded: hasher.finalize()) | 1
    }
}
