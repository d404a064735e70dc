/// The end of a text in UTF-8 that may be cut within a character.
package enum CutUTF8 {
    /// The number of bytes at the end that begin a character without completing it.
    package static func incompleteCount(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        for (count, byte) in zip(1...3, bytes.reversed()) {
            if byte & 0xc0 == 0x80 { continue }
            let size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            return size > count ? count : 0
        }
        return 0
    }
}
