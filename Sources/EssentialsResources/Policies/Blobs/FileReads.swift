import EssentialsHTTP
import FoundationEssentials

/// Reads open files on a file thread. Each value has a queue of its own, so that several files are read at a time.
actor FileReads {
    private let queue = FileQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// The bytes at some positions of the file. Each MiB that they belong to is read as a whole and checked before.
    ///
    /// - Throws: `file` if the file cannot be read, ends before, or is damaged.
    func bytes(of checked: CheckedFile, in range: Range<Int>) throws(RequestFailure) -> Data {
        guard !range.isEmpty else { return Data() }
        let failure: SystemError
        do throws(SystemError) {
            if let data = try Self.read(checked, range) { return data }
            throw Self.damaged
        } catch {
            failure = error
        }
        let problem = failure == Self.damaged ? "is damaged" : "could not be read: \(failure)"
        throw RequestFailure(
            .file, "The stored blob \(problem).",
            remedy: "Ask for the blob again; it is loaded anew if its file is damaged.", underlying: failure)
    }

    /// The error number for damage, which a disk gives that finds it by itself.
    private static let damaged = SystemError(code: 5)

    /// `nil` if the file is damaged, or ends before.
    private static func read(_ checked: CheckedFile, _ range: Range<Int>) throws(SystemError) -> Data? {
        let size = Int(clamping: checked.size)
        guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
        var isWhole = true
        do throws(SystemError) {
            var position = range.lowerBound
            while isWhole, position < range.upperBound {
                let index = position / PieceChecksums.pieceSize
                let start = index * PieceChecksums.pieceSize
                let end = min(start + PieceChecksums.pieceSize, size)
                let part = position..<min(end, range.upperBound)
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: memory[(part.lowerBound - range.lowerBound)..<(part.upperBound - range.lowerBound)])
                isWhole = try read(checked, index, start..<end, part, into: target)
                position = part.upperBound
            }
        } catch {
            memory.deallocate()
            throw error
        }
        return ResidentRead.adopt(memory, isWhole)
    }

    /// Reads and checks a piece, and copies the wanted part of it. Returns whether it is what it was.
    private static func read(
        _ checked: CheckedFile, _ index: Int, _ piece: Range<Int>, _ part: Range<Int>,
        into target: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Bool {
        if part == piece {
            let count = try checked.file.read(into: target, at: Int64(piece.lowerBound))
            return count == piece.count && checked.checksums.matches(UnsafeRawBufferPointer(target), at: index)
        }
        let all = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 16)
        defer { all.deallocate() }
        let count = try checked.file.read(into: all, at: Int64(piece.lowerBound))
        guard count == piece.count, checked.checksums.matches(UnsafeRawBufferPointer(all), at: index) else {
            return false
        }
        let wanted = all[(part.lowerBound - piece.lowerBound)..<(part.upperBound - piece.lowerBound)]
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: wanted))
        return true
    }
}
