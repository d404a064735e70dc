import EssentialsTools

/// A file of numbers, which several processes read and write in place.
///
/// Each number has 8 bytes, the least significant first. What was never written is zero, or missing at the end. The lock
/// of the directory orders the writes.
final class NumberFile: Sendable {
    private let path: String
    private let calls: FileCalls
    private let maximumCount: Int
    /// The file that was opened last. It is used as long as its name leads to it.
    private let kept = Mutex<(file: OpenFile, status: FileStatus)?>(nil)

    /// - Parameter maximumCount: A larger file does not belong to the program, and is replaced.
    init(_ path: String, maximumCount: Int, _ calls: FileCalls) {
        (self.path, self.maximumCount, self.calls) = (path, maximumCount, calls)
    }

    /// Whether the file exists.
    func isThere() throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try calls.status(of: path)
            return true
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    /// Numbers from a position, fewer at the end of the file.
    func read(_ count: Int, at position: Int, of file: OpenFile) throws(FileError) -> [UInt64] {
        let bytes = try calls.bytes(of: file, count: count * 8, at: Int64(position * 8))
        return bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return (0..<count).compactMap { _ in reader.number() }
        }
    }

    func write(_ numbers: [UInt64], at position: Int, of file: OpenFile) throws(FileError) {
        try calls.check(.write, path)
        var writer = ByteWriter()
        for number in numbers { writer.append(number) }
        let written = pwrite(file.descriptor, writer.bytes, writer.bytes.count, off_t(position * 8))
        guard written == writer.bytes.count else { throw written < 0 ? FileError.last : FileError(code: EIO) }
    }

    /// The same without waiting for a disk; `nil` if they are not all in memory.
    ///
    /// - Parameter size: The size of the file, beyond which there are no numbers.
    func readResident(_ count: Int, at position: Int, of file: OpenFile, size: Int64) -> [UInt64]? {
        let wanted = min(count * 8, max(0, Int(clamping: size) - position * 8))
        guard (try? calls.check(.read)) != nil,
            let bytes = ResidentRead.array(of: file, count: wanted, at: Int64(position * 8))
        else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return (0..<count).compactMap { _ in reader.number() }
        }
    }

    /// The file that was opened last, with its present status; `nil` if its name does not lead to it any more. As it is
    /// open, the system has its name in memory, and no disk is waited for.
    func openedLast() -> (file: OpenFile, status: FileStatus)? {
        guard let kept = kept.withLock({ $0 }), let named = try? calls.status(of: path),
            named.identity == kept.status.identity
        else { return nil }
        return (kept.file, named)
    }

    /// The file. A missing one is created.
    func open() throws(FileError) -> OpenFile {
        if let opened = openedLast() { return opened.file }
        do throws(OwnFile.Refusal) {
            return try openOwn()
        } catch {
            guard error.isOfOthers else { throw error.fileError }
        }
        // For example a restored file that others can read.
        try calls.remove(path)
        do throws(OwnFile.Refusal) { return try openOwn() } catch { throw error.fileError }
    }

    private func openOwn() throws(OwnFile.Refusal) -> OpenFile {
        let opened = try calls.openOwn(
            path, O_RDWR | O_CREAT, [.oneName, .noOtherUsers], upTo: Int64(maximumCount * 8))
        kept.withLock { $0 = opened }
        return opened.file
    }
}
