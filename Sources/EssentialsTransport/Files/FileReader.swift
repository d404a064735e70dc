import EssentialsStorage
import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file to be sent, with its size and modification time at the time of creation.
package struct SentFile: Sendable {
    /// The size of the pieces in which a file is read.
    package static let pieceSize = 512 << 10

    let path: String
    let range: Range<Int64>
    private let size: Int64
    private let modified: FileStatus.Moment

    /// Reads the status of a file.
    ///
    /// - Throws: `file` if the file does not exist or is not a regular file, or if the range exceeds it.
    init(_ path: String, range: Range<Int64>?) throws(RequestFailure) {
        let path = try AbsolutePath.of(path)
        let status = try RequestFailure.onFile(path, "cannot be sent", phase: .preparation) {
            () throws(FileError) in try FileStatus(of: path)
        }
        guard status.isRegular else {
            throw status.isDirectory ? Self.directory(path) : Self.notRegular(path, phase: .preparation)
        }
        let whole = 0..<max(0, status.size)
        guard range.map({ $0.lowerBound >= 0 && $0.upperBound <= whole.upperBound }) ?? true else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” has \(status.size) bytes, fewer than the range requires.",
                remedy: "Use a range within the file.")
        }
        self.path = path
        self.range = range ?? whole
        size = status.size
        modified = status.modified
    }

    /// Whether the file is unchanged.
    func isSame(as status: FileStatus) -> Bool { status.size == size && status.modified == modified }

    private static func directory(_ path: String) -> RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(path))” is a directory, and only a file can be sent.",
            remedy: "Name a file in the directory, or send an archive of it.")
    }

    package static func notRegular(_ path: String, phase: RequestFailure.Phase) -> RequestFailure {
        RequestFailure(
            .file, "“\(RequestFailure.shownPath(path))” is not a regular file.",
            remedy: "Use a regular file. Send data from a pipe or a device as a stream.", phase: phase)
    }
}

/// Reads a file for one attempt, piece by piece, on a file thread. The file is open from the first piece to the last.
actor FileReader {

    private let queue = FileQueue()
    private let file: SentFile
    private var open: OpenFile?
    private var position: Int64
    private var isEnded = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ file: SentFile) {
        self.file = file
        position = file.range.lowerBound
    }

    /// Returns the next piece, or `nil` after the last one.
    ///
    /// - Throws: `file` if the file cannot be read or has changed.
    func next() throws(RequestFailure) -> Data? {
        guard !isEnded else { return nil }
        let end = file.range.upperBound
        let open = try opened()
        guard position < end else { return finish() }
        let count = Int(min(Int64(SentFile.pieceSize), end - position))
        let start = position
        let piece = try RequestFailure.onFile(file.path, "could not be read", phase: .sending) {
            () throws(FileError) in try open.piece(at: start, count: count)
        }
        guard let piece else { throw changed() }
        position += Int64(count)
        // The last piece completes the body, so the file is checked before the piece is returned.
        if position == end { try checkUnchanged(open) }
        return piece
    }

    private func opened() throws(RequestFailure) -> OpenFile {
        if let open { return open }
        let path = file.path
        let opened = try RequestFailure.onFile(path, "could not be opened", phase: .sending) {
            () throws(FileError) in try OpenFile(path, O_RDONLY)
        }
        try checkUnchanged(opened)
        open = opened
        return opened
    }

    private func checkUnchanged(_ open: OpenFile) throws(RequestFailure) {
        let status = try RequestFailure.onFile(file.path, "could not be read", phase: .sending) {
            () throws(FileError) in try open.status()
        }
        guard status.isRegular else { throw SentFile.notRegular(file.path, phase: .sending) }
        guard file.isSame(as: status) else { throw changed() }
    }

    private func changed() -> RequestFailure {
        isEnded = true
        open = nil
        return RequestFailure(
            .file, "“\(RequestFailure.shownPath(file.path))” has changed since it became the body of a request.",
            remedy: "Create the body again when no program writes to the file, or send a copy.", phase: .sending)
    }

    private func finish() -> Data? {
        isEnded = true
        open = nil
        return nil
    }
}
