/// Makes gzip files of zeros without a compressor, from back references of the longest length (RFC 1951, RFC 1952).
enum Gzip {
    private struct Bits {
        var bytes: [UInt8] = []
        private var current: UInt32 = 0
        private var count: UInt32 = 0

        /// Least significant bit first.
        mutating func append(_ value: UInt32, _ width: UInt32) {
            current |= value << count
            count += width
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: current))
                current >>= 8
                count -= 8
            }
        }

        mutating func finish() {
            if count > 0 { append(0, 8 - count) }
        }
    }

    /// A gzip member that unpacks to `count` zeros. With the fixed code the longest match is 8 bits and its distance 5.
    static func zeros(count: Int) throws -> [UInt8] {
        var bits = Bits()
        bits.append(1, 1)
        bits.append(1, 2)
        bits.append(reversed(0x30, 8), 8)
        var left = count - 1
        while left >= 258 {
            // Length 258 is code 285 (11000101, no extra bits), distance 1 is code 0.
            bits.append(reversed(0xC5, 8), 8)
            bits.append(0, 5)
            left -= 258
        }
        for _ in 0..<left { bits.append(reversed(0x30, 8), 8) }
        bits.append(0, 7)
        bits.finish()
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        return header + bits.bytes + word(crcOfZeros(count)) + word(UInt32(truncatingIfNeeded: count))
    }

    private static func reversed(_ code: UInt32, _ width: UInt32) -> UInt32 {
        (0..<width).reduce(0) { $0 | ((code >> $1) & 1) << (width - 1 - $1) }
    }

    private static func crcOfZeros(_ count: Int) -> UInt32 {
        let table = (0..<256 as Range<UInt32>).map { index in
            (0..<8).reduce(index) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        var crc: UInt32 = 0xFFFF_FFFF
        for _ in 0..<count { crc = table[Int(crc & 0xFF)] ^ (crc >> 8) }
        return ~crc
    }

    private static func word(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
