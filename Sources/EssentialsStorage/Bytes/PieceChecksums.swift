#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The checksums of a file: one for each MiB, so that a part is checked without reading the rest. Each changed byte is
/// found.
package struct PieceChecksums: Sendable, Hashable {
    /// The number of bytes that share a checksum.
    package static let pieceSize = 1 << 20
    /// The maximum size of a file, which then has a million checksums.
    package static let maximumSize = Int64(pieceSize) << 20

    package let sums: [UInt64]

    package init(_ sums: [UInt64]) { self.sums = sums }

    /// The checksums of bytes.
    package init(of bytes: Data) {
        var running = RunningChecksums()
        bytes.withUnsafeBytes { running.append($0) }
        self = running.finished
    }

    /// The number of pieces of a file.
    package static func count(for size: Int64) -> Int {
        Int(clamping: (max(0, min(size, .max - Int64(pieceSize))) + Int64(pieceSize) - 1) / Int64(pieceSize))
    }

    /// One checksum for all pieces.
    package var total: UInt64 {
        var writer = ByteWriter()
        for sum in sums { writer.append(sum) }
        return writer.bytes.withUnsafeBytes { StableHash.checksum($0) }
    }

    /// Whether the bytes of a piece are unchanged.
    package func matches(_ piece: UnsafeRawBufferPointer, at index: Int) -> Bool {
        guard sums.indices.contains(index), piece.count <= Self.pieceSize else { return false }
        var running = RunningChecksums()
        running.append(piece)
        return running.finished.sums == [sums[index]]
    }
}

/// Computes checksums of bytes that arrive in parts of any size.
package struct RunningChecksums: Sendable {
    /// The size of a block. The blocks of a piece are added to its checksum one after another.
    private static let blockSize = 4_096

    private var sums: [UInt64] = []
    /// The checksum of the present piece without the present block.
    private var sum: UInt64 = 0
    /// The number of bytes that this checksum covers.
    private var count = 0
    /// An incomplete block.
    private var block: [UInt8] = []

    package init() {}

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.blockSize - block.count)
            rest = rest[part.endIndex...]
            if block.isEmpty, part.count == Self.blockSize {
                close(UnsafeRawBufferPointer(rebasing: part))
                continue
            }
            block.append(contentsOf: part)
            if block.count == Self.blockSize { closeBlock() }
        }
    }

    private mutating func closeBlock() {
        let bytes = block
        bytes.withUnsafeBytes { close($0) }
        block.removeAll(keepingCapacity: true)
    }

    private mutating func close(_ block: UnsafeRawBufferPointer) {
        sum = StableHash.checksum(block, sum)
        count += block.count
        if count == PieceChecksums.pieceSize {
            sums.append(sum)
            (sum, count) = (0, 0)
        }
    }

    /// The checksums of all bytes so far.
    package var finished: PieceChecksums {
        var last = self
        if !last.block.isEmpty { last.closeBlock() }
        return PieceChecksums(last.count > 0 ? last.sums + [last.sum] : last.sums)
    }
}

/// An open file whose bytes are checked before they are returned.
package struct CheckedFile: Sendable {
    package let file: OpenFile
    package let size: Int64
    package let checksums: PieceChecksums

    package init(file: OpenFile, size: Int64, checksums: PieceChecksums) {
        (self.file, self.size, self.checksums) = (file, size, checksums)
    }
}
