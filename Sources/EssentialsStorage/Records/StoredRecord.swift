/// A stored record: its key, its head, and its body or the open file with the body. A checksum has verified everything
/// that was read from the record's file.
package struct StoredRecord: Sendable {
    /// The location of the body.
    package enum Body: Sendable {
        /// The body is in the file of the record. The slice shares the memory of all bytes that were read, so that none
        /// are copied.
        case inline(ArraySlice<UInt8>)
        /// The body has its own file, which is open. Its pieces are checked when they are read.
        case file(CheckedFile)
    }

    package let name: RecordName
    package let key: [UInt8]
    package let head: [UInt8]
    package let body: Body
    let facts: RecordFacts

    /// The number of the body, which stays the same when the head is replaced.
    package var id: UInt64 { facts.id }
    /// The number of this head.
    package var revision: UInt64 { facts.revision }

    /// The size of the body.
    package var size: Int64 {
        switch body {
        case .inline(let bytes): Int64(bytes.count)
        case .file(let file): file.size
        }
    }
}

/// The numbers at the beginning of a record's file, which can be read without the rest.
struct RecordFacts: Sendable, Hashable {
    /// The size of these numbers in bytes.
    static let size = 33

    /// The number of the body, which stays the same when the head is replaced.
    let id: UInt64
    /// The number of the head.
    let revision: UInt64
    /// The number of the last removal when the writing began.
    let begun: UInt64
    /// The number of the last invalidation when the writing began; zero if keys are not invalidated in all partitions.
    let invalidation: UInt64
    /// Whether the body has its own file.
    let hasFile: Bool

    init(id: UInt64, begun: UInt64, invalidation: UInt64, hasFile: Bool) {
        (self.id, self.begun, self.invalidation, self.hasFile) = (id, begun, invalidation, hasFile)
        revision = .random(in: .min ... .max)
    }

    init?(_ reader: inout ByteReader) {
        guard let id: UInt64 = reader.number(), let revision: UInt64 = reader.number(),
            let begun: UInt64 = reader.number(), let invalidation: UInt64 = reader.number(),
            let hasFile: UInt8 = reader.number(), hasFile <= 1
        else { return nil }
        (self.id, self.revision, self.begun) = (id, revision, begun)
        (self.invalidation, self.hasFile) = (invalidation, hasFile == 1)
    }

    func append(to writer: inout ByteWriter) {
        writer.append(id)
        writer.append(revision)
        writer.append(begun)
        writer.append(invalidation)
        writer.append(UInt8(hasFile ? 1 : 0))
    }
}

/// The unchecked beginning of a record's file, which can be damaged.
struct RecordOutline: Sendable {
    let facts: RecordFacts
    /// The place of the key in the file.
    let key: Range<Int>

    /// The number of bytes that must be read.
    static func size(_ format: RecordFormat) -> Int { format.headerSize + RecordFacts.size }

    /// Reads the first bytes of a file; `nil` if they are too few or have another format.
    init?(_ bytes: [UInt8], _ format: RecordFormat) {
        let read = bytes.withUnsafeBytes { bytes -> (RecordFacts, Range<Int>)? in
            guard let parts = format.uncheckedParts(bytes), parts.count == RecordContent.partCount,
                bytes.count >= Self.size(format)
            else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[parts[0].lowerBound...]))
            return RecordFacts(&reader).map { ($0, parts[1]) }
        }
        guard let read else { return nil }
        (facts, key) = read
    }
}

/// The parts of a record's file.
struct RecordContent: Sendable {
    /// A body with its own file.
    struct BodyFile: Sendable, Hashable {
        let size: Int64
        let checksums: PieceChecksums
    }

    /// The number of parts: the facts with the description of the other file, the key, the head, and the body.
    static let partCount = 4

    let facts: RecordFacts
    let key: [UInt8]
    let head: [UInt8]
    let body: ArraySlice<UInt8>
    /// `nil` if the body is in this file.
    let file: BodyFile?
    /// The size of this file.
    let size: Int64

    /// The bytes before the body in this file.
    ///
    /// - Parameter body: The body, which must follow them. It is empty if the body has its own file.
    static func beginning(
        _ facts: RecordFacts, _ file: BodyFile?, key: [UInt8], head: [UInt8], body: UnsafeRawBufferPointer,
        _ format: RecordFormat
    ) -> [UInt8] {
        var writer = ByteWriter()
        facts.append(to: &writer)
        if let file {
            writer.append(file.size)
            for sum in file.checksums.sums { writer.append(sum) }
        }
        let header = writer.bytes.withUnsafeBytes { first in
            key.withUnsafeBytes { key in head.withUnsafeBytes { format.header(for: [first, key, $0, body]) } }
        }
        return header + writer.bytes + key + head
    }

    /// Reads a file; `nil` if it is damaged or has another format.
    init?(_ bytes: [UInt8], _ format: RecordFormat) {
        guard case .record(_, let parts) = format.content(of: bytes), parts.count == Self.partCount,
            let first = bytes.withUnsafeBytes({ Self.first(UnsafeRawBufferPointer(rebasing: $0[parts[0]])) })
        else { return nil }
        (facts, file) = first
        size = Int64(bytes.count)
        (key, head, body) = (Array(bytes[parts[1]]), Array(bytes[parts[2]]), bytes[parts[3]])
    }

    private static func first(_ bytes: UnsafeRawBufferPointer) -> (RecordFacts, BodyFile?)? {
        var reader = ByteReader(bytes)
        guard let facts = RecordFacts(&reader) else { return nil }
        guard facts.hasFile else { return reader.count == 0 ? (facts, nil) : nil }
        guard let size: Int64 = reader.number(), (0...PieceChecksums.maximumSize).contains(size),
            reader.count == 8 * PieceChecksums.count(for: size)
        else { return nil }
        var sums: [UInt64] = []
        while let sum: UInt64 = reader.number() { sums.append(sum) }
        return (facts, BodyFile(size: size, checksums: PieceChecksums(sums)))
    }
}
