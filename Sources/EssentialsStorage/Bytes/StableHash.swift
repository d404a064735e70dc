/// Hashes that are the same in every process, for the names and the contents of files. They do not resist an attacker
/// who chooses the bytes, but equal names only lose an entry, because the keys are compared.
package enum StableHash {
    /// FNV-1a with 128 bits.
    package static func name(of bytes: some Sequence<UInt8>) -> UInt128 {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in bytes {
            hash ^= UInt128(byte)
            hash &*= 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
        return hash
    }

    /// A checksum of eight bytes at a time.
    ///
    /// Each step maps different states to different states, so damage within one word is always found.
    package static func checksum(_ bytes: UnsafeRawBufferPointer, _ start: UInt64 = 0x9e37_79b9_7f4a_7c15) -> UInt64 {
        var hash = start ^ UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            hash = mixed(hash ^ word)
            index += 8
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        return mixed(hash ^ rest)
    }

    private static func mixed(_ hash: UInt64) -> UInt64 {
        let product = hash &* 0xff51_afd7_ed55_8ccd
        return product ^ (product >> 32)
    }

    /// A number in lower-case hexadecimal digits, as many as its type has. File names are built from it, so it writes
    /// digits in place.
    package static func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
        let count = Number.bitWidth / 4
        return String(unsafeUninitializedCapacity: count) { digits in
            for index in 0..<count {
                let digit = UInt8(truncatingIfNeeded: number >> Number(4 * (count - 1 - index))) & 0xf
                digits.initializeElement(
                    at: index, to: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
            return count
        }
    }
}
