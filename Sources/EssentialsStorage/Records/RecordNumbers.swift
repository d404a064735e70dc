import EssentialsTools

/// Numbers of keys, in a file of a directory that several processes share.
///
/// A commit succeeds only if the number of its key has not changed since its beginning, so that it does not undo an
/// invalidation in between. There are ``count`` numbers, each for many keys. So any number of keys can be invalidated
/// without a file for each. An invalidation also refuses the commits of a few other keys, which are merely not stored.
///
/// Numbers are random and written in place. A missing number is replaced. No commit expects the new number or a damaged
/// one.
final class RecordNumbers: Sendable {
    static let fileName = ".numbers"
    static let count = 4_096
    private static let size = 8

    private let path: String
    private let calls: FileCalls
    /// The file that was opened last. It is used as long as its name leads to it.
    private let kept = Mutex<(file: OpenFile, status: FileStatus)?>(nil)

    init(_ path: String, _ calls: FileCalls) { (self.path, self.calls) = (path, calls) }

    /// The number of a key. A missing file is created.
    func number(of name: RecordName) throws(FileError) -> UInt64 {
        let file = try open()
        if let number = try read(file, name) { return number }
        // If another process writes a number at the same time, the commit finds a different one and is refused.
        return try raise(name)
    }

    /// Whether the file exists. It is created when it is first written.
    func areThere() throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try calls.status(of: path)
            return true
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    /// Whether the number of a key still equals one that was read. The caller has the lock of the directory.
    func isStill(_ number: UInt64, of name: RecordName) throws(FileError) -> Bool {
        try read(open(), name) == number
    }

    /// Sets a new number for a key, and returns it.
    @discardableResult
    func raise(_ name: RecordName) throws(FileError) -> UInt64 {
        let file = try open()
        let number = UInt64.random(in: 1 ... .max)
        try calls.check(.write, path)
        let written = withUnsafeBytes(of: number.littleEndian) {
            pwrite(file.descriptor, $0.baseAddress, $0.count, off_t(Self.position(of: name)))
        }
        guard written == Self.size else { throw written < 0 ? FileError.last : FileError(code: EIO) }
        return number
    }

    private func read(_ file: OpenFile, _ name: RecordName) throws(FileError) -> UInt64? {
        var bytes = UInt64(0)
        let count = try withUnsafeMutableBytes(of: &bytes) { buffer throws(FileError) in
            try calls.read(file, into: buffer, at: Self.position(of: name))
        }
        let number = UInt64(littleEndian: bytes)
        return count == Self.size && number != 0 ? number : nil
    }

    private func open() throws(FileError) -> OpenFile {
        if let kept = kept.withLock({ $0 }), let named = try? calls.status(of: path),
            named.identity == kept.status.identity
        {
            return kept.file
        }
        do throws(OwnFile.Refusal) {
            return try openOwn()
        } catch {
            guard error.isOfOthers else { throw error.fileError }
        }
        // For example a restored file that others can read. Without its numbers, only running commits are lost.
        try calls.remove(path)
        do throws(OwnFile.Refusal) { return try openOwn() } catch { throw error.fileError }
    }

    private func openOwn() throws(OwnFile.Refusal) -> OpenFile {
        let opened = try calls.openOwn(
            path, O_RDWR | O_CREAT, [.oneName, .noOtherUsers], upTo: Int64(Self.count * Self.size))
        kept.withLock { $0 = opened }
        return opened.file
    }

    private static func position(of name: RecordName) -> Int64 {
        Int64(UInt64(truncatingIfNeeded: name.key) % UInt64(count)) * Int64(size)
    }
}
