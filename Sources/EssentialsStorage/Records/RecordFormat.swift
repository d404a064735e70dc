/// The frame of every file with records of this package: a mark, a version, parts, and one checksum over all of it.
///
/// The bytes are: the mark (8), the version (4), the number of parts (4), the size of each part (8 each), the checksum
/// of all other bytes (8), and the parts. Numbers have the least significant byte first. Every changed, missing or
/// additional byte is found before a part is used.
package struct RecordFormat: Sendable, Hashable {
    /// The result of reading.
    package enum Content: Sendable, Hashable {
        /// The version, and the places of the parts in the bytes.
        case record(version: UInt32, parts: [Range<Int>])
        /// The bytes have a version that is not supported.
        case otherVersion
        /// The bytes differ from those that were written.
        case damaged
    }

    /// The maximum number of parts.
    package static let maximumParts = 16

    private let mark: [UInt8]
    /// The version that is written.
    package let version: UInt32
    /// The versions that are read.
    private let readable: ClosedRange<UInt32>
    /// The number of parts of each record.
    package let partCount: Int

    /// - Parameters:
    ///   - mark: Eight ASCII characters. Excess characters are cut off, and missing ones become spaces.
    ///   - oldest: The oldest version that is read. The default is the written version.
    package init(mark: String, version: UInt32, oldest: UInt32? = nil, partCount: Int) {
        self.mark = Array((Array(mark.utf8) + [UInt8](repeating: 0x20, count: 8)).prefix(8))
        self.version = version
        readable = min(oldest ?? version, version)...version
        self.partCount = min(max(partCount, 1), Self.maximumParts)
    }

    /// The number of bytes before the first part.
    package var headerSize: Int { 24 + 8 * partCount }

    /// The bytes before the parts, which must follow in their order.
    package func header(for parts: [UnsafeRawBufferPointer]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(mark)
        writer.append(version)
        writer.append(UInt32(clamping: parts.count))
        for part in parts { writer.append(UInt64(part.count)) }
        var sum = writer.bytes.withUnsafeBytes { StableHash.checksum($0) }
        for part in parts { sum = StableHash.checksum(part, sum) }
        writer.append(sum)
        return writer.bytes
    }

    /// The bytes of a record.
    package func bytes(of parts: [[UInt8]]) -> [UInt8] {
        func framed(_ done: [UnsafeRawBufferPointer], _ rest: ArraySlice<[UInt8]>) -> [UInt8] {
            guard let next = rest.first else { return header(for: done) }
            return next.withUnsafeBytes { framed(done + [$0], rest.dropFirst()) }
        }
        // The number of parts is bounded, and so is the recursion.
        var bytes = framed([], parts.prefix(Self.maximumParts))
        for part in parts.prefix(Self.maximumParts) { bytes += part }
        return bytes
    }

    /// The places of the parts according to the header alone. Only the mark, the version and the number of parts are
    /// checked, so the parts may be damaged.
    package func uncheckedParts(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>]? {
        guard case .fields(let fields) = fields(of: bytes) else { return nil }
        return fields.parts
    }

    /// Reads a record.
    package func content(of bytes: UnsafeRawBufferPointer) -> Content {
        let fields: Fields
        switch self.fields(of: bytes) {
        case .damaged: return .damaged
        case .otherVersion: return .otherVersion
        case .fields(let found): fields = found
        }
        guard fields.parts.last?.upperBound == bytes.count else { return .damaged }
        var sum = StableHash.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<(headerSize - 8)]))
        for part in fields.parts { sum = StableHash.checksum(UnsafeRawBufferPointer(rebasing: bytes[part]), sum) }
        return sum == fields.checksum ? .record(version: fields.version, parts: fields.parts) : .damaged
    }

    /// Reads a record.
    package func content(of bytes: [UInt8]) -> Content { bytes.withUnsafeBytes { content(of: $0) } }

    private struct Fields {
        let version: UInt32
        let parts: [Range<Int>]
        let checksum: UInt64
    }

    private enum Header {
        case fields(Fields)
        case otherVersion
        case damaged
    }

    private func fields(of bytes: UnsafeRawBufferPointer) -> Header {
        var reader = ByteReader(bytes)
        guard reader.take(mark.count).map({ $0.elementsEqual(mark) }) == true, let version: UInt32 = reader.number()
        else { return .damaged }
        guard readable.contains(version) else { return .otherVersion }
        guard let count: UInt32 = reader.number(), Int(count) == partCount else { return .damaged }
        var parts: [Range<Int>] = []
        var end = headerSize
        for _ in 0..<partCount {
            guard let size: UInt64 = reader.number(), size <= 1 << 40 else { return .damaged }
            parts.append(end..<(end + Int(size)))
            end += Int(size)
        }
        guard let checksum: UInt64 = reader.number() else { return .damaged }
        return .fields(Fields(version: version, parts: parts, checksum: checksum))
    }
}
