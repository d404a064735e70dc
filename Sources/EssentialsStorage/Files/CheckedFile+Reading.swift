#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension CheckedFile {
    /// The number of pieces, each of which has a checksum.
    package var pieceCount: Int { PieceChecksums.count(for: size) }

    /// A checked piece; `nil` if it is damaged, missing or too short.
    package func piece(_ index: Int) throws(FileError) -> Data? {
        guard (0..<pieceCount).contains(index) else { return nil }
        let start = index * PieceChecksums.pieceSize
        return try bytes(in: start..<min(start + PieceChecksums.pieceSize, Int(clamping: size)))
    }

    /// The bytes at some positions. Each MiB that contains them is read as a whole and checked first.
    ///
    /// - Returns: `nil` if the file is damaged or too short.
    package func bytes(in range: Range<Int>) throws(FileError) -> Data? {
        try bytes(in: range) { target, position throws(FileError) in
            try file.read(into: target, at: position) == target.count
        }
    }

    /// The same without waiting for a disk; also `nil` if the bytes are not all in memory. See ``ResidentRead``.
    package func residentBytes(in range: Range<Int>) -> Data? {
        try? bytes(in: range) { target, position in ResidentRead.fill(target, from: file, at: position) }
    }

    /// - Parameter fill: Fills memory with the bytes from a position; `false` if there are too few.
    private func bytes(
        in range: Range<Int>, _ fill: (UnsafeMutableRawBufferPointer, Int64) throws(FileError) -> Bool
    ) throws(FileError) -> Data? {
        let size = Int(clamping: size)
        guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
        guard !range.isEmpty else { return Data() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
        var isWhole = true
        do throws(FileError) {
            var position = range.lowerBound
            while isWhole, position < range.upperBound {
                let index = position / PieceChecksums.pieceSize
                let start = index * PieceChecksums.pieceSize
                let end = min(start + PieceChecksums.pieceSize, size)
                let part = position..<min(end, range.upperBound)
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: memory[(part.lowerBound - range.lowerBound)..<(part.upperBound - range.lowerBound)])
                isWhole = try read(index, start..<end, part, into: target, fill)
                position = part.upperBound
            }
        } catch {
            memory.deallocate()
            throw error
        }
        return ResidentRead.adopt(memory, isWhole)
    }

    /// Reads and checks a piece, and copies the wanted part of it. Returns whether the piece is undamaged.
    private func read(
        _ index: Int, _ piece: Range<Int>, _ part: Range<Int>,
        into target: UnsafeMutableRawBufferPointer,
        _ fill: (UnsafeMutableRawBufferPointer, Int64) throws(FileError) -> Bool
    ) throws(FileError) -> Bool {
        if part == piece {
            return try fill(target, Int64(piece.lowerBound))
                && checksums.matches(UnsafeRawBufferPointer(target), at: index)
        }
        let all = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 16)
        defer { all.deallocate() }
        guard try fill(all, Int64(piece.lowerBound)), checksums.matches(UnsafeRawBufferPointer(all), at: index) else {
            return false
        }
        let wanted = all[(part.lowerBound - piece.lowerBound)..<(part.upperBound - piece.lowerBound)]
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: wanted))
        return true
    }
}
