/// Writes numbers and texts as bytes. Numbers have the least significant byte first.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the length of a text and the text.
    package mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    /// Appends the number of bytes and the bytes.
    package mutating func append(counted other: UnsafeRawBufferPointer) {
        append(UInt32(clamping: other.count))
        bytes.append(contentsOf: other)
    }

    package mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }
}

/// Reads the output of ``ByteWriter``. Every read of damaged bytes returns `nil`.
package struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The number of remaining bytes.
    package var count: Int { bytes.count - position }

    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard count >= size else { return nil }
        defer { position += size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
    }

    package mutating func text() -> String? {
        guard let part = counted() else { return nil }
        let text = String(decoding: part, as: UTF8.self)
        // Decoding repairs bytes that are not valid text. Such bytes were not written here.
        return text.utf8.count == part.count && text.utf8.elementsEqual(part) ? text : nil
    }

    /// The bytes that follow their count.
    package mutating func counted() -> UnsafeRawBufferPointer? {
        guard let size: UInt32 = number() else { return nil }
        return take(Int(size))
    }

    /// The next bytes.
    package mutating func take(_ size: Int) -> UnsafeRawBufferPointer? {
        guard size >= 0, size <= count else { return nil }
        defer { position += size }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + size)])
    }
}
