extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes begin with others. Eight bytes are compared at a time, because the library's comparison of
    /// sequences takes as long as a look-up may.
    package func hasPrefix(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard other.count <= count else { return false }
        let (one, other) = (UnsafeRawBufferPointer(self), UnsafeRawBufferPointer(other))
        var index = 0
        while index + 8 <= other.count {
            let words = (
                one.loadUnaligned(fromByteOffset: index, as: UInt64.self),
                other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            guard words.0 == words.1 else { return false }
            index += 8
        }
        while index < other.count {
            guard one[index] == other[index] else { return false }
            index += 1
        }
        return true
    }

    /// Whether the bytes begin with those of an array.
    package func hasPrefix(_ other: [UInt8]) -> Bool { other.withUnsafeBufferPointer { hasPrefix($0) } }

    /// The bytes from an offset on.
    package func from(_ offset: Int) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: self[offset...]) }

    /// The number of bytes before the first occurrence of one.
    package func offset(of byte: UInt8) -> Int {
        var index = 0
        while index < count, self[index] != byte { index += 1 }
        return index
    }
}
