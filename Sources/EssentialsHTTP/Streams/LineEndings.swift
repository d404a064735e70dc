/// The byte sequences that end a line.
enum LineEndings {
    /// LF and CR LF. A single CR is part of the line.
    case lineFeed
    /// CR, LF and CR LF.
    case carriageReturnOrLineFeed

    static let lineFeedByte = UInt8(ascii: "\n")
    static let carriageReturnByte = UInt8(ascii: "\r")

    /// The index of the first byte that ends a line.
    func firstIndex(in bytes: UnsafeRawBufferPointer) -> Int? {
        let first = Self.lineFeedByte
        let second = self == .lineFeed ? first : Self.carriageReturnByte
        var index = Self.lengthWithout(first, second, in: bytes)
        while index < bytes.count {
            let byte = bytes[index]
            if byte == first || byte == second { return index }
            index += 1
        }
        return nil
    }

    /// Skips whole words that contain neither byte, and returns the number of skipped bytes.
    private static func lengthWithout(_ first: UInt8, _ second: UInt8, in bytes: UnsafeRawBufferPointer) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let step = MemoryLayout<UInt64>.size
        var index = 0
        while bytes.count - index >= step {
            // The load stays in bounds: the loop condition leaves a whole word, and the load needs no alignment.
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // A matching byte becomes zero. Subtracting one from each byte sets a high bit that was clear only in a
            // zero byte, or in a byte above one.
            let one = word ^ (ones &* UInt64(first))
            let other = word ^ (ones &* UInt64(second))
            if ((one &- ones) & ~one | (other &- ones) & ~other) & highs != 0 { break }
            index += step
        }
        return index
    }
}
