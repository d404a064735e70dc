import EssentialsTools

/// Numbers of keys, in a file of a directory that several processes share.
///
/// A commit succeeds only if the number of its key has not changed since its beginning, so that it does not undo an
/// invalidation in between. There are ``count`` numbers, each for many keys. So any number of keys can be invalidated
/// without a file for each. An invalidation also refuses the commits of a few other keys, which are merely not stored.
///
/// Numbers are random and written in place. A missing number is replaced. No commit expects the new number or a damaged
/// one.
///
/// After the numbers there are as many leases: each has the hash of a key, the number of its holder, and its end.
final class RecordNumbers: Sendable {
    static let fileName = ".numbers"
    static let count = 4_096
    /// The longest lease, in nanoseconds.
    static let longestLease: Int64 = 60_000_000_000
    private static let (size, leaseSize) = (8, 24)

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
        try write([number], to: file, at: Self.slot(of: name) * Self.size)
        return number
    }

    private func read(_ file: OpenFile, _ name: RecordName) throws(FileError) -> UInt64? {
        let number = try words(file, 1, at: Self.slot(of: name) * Self.size).first
        return number == 0 ? nil : number
    }

    // MARK: Leases

    /// Writes a lease, unless another one of the same key has not ended. The caller has the lock of the directory.
    ///
    /// If the place is taken by another key, the lease is granted without being written.
    ///
    /// - Returns: Whether the lease was granted.
    func begin(_ lease: RecordLease, _ now: UInt64, until end: UInt64) throws(FileError) -> Bool {
        let (file, position) = (try open(), Self.leasePosition(lease.name))
        let found = try words(file, 3, at: position)
        // An end that is too far in the future is from before the last start of the machine.
        if found.count == 3, found[2] > now, found[2] - now <= UInt64(Self.longestLease) {
            return found[0] != Self.hash(of: lease.name)
        }
        try write([Self.hash(of: lease.name), lease.holder, end], to: file, at: position)
        return true
    }

    /// Removes a lease, if it is still the written one. The caller has the lock of the directory.
    func end(_ lease: RecordLease) throws(FileError) {
        let (file, position) = (try open(), Self.leasePosition(lease.name))
        guard try words(file, 3, at: position).dropFirst().first == lease.holder else { return }
        try write([0, 0, 0], to: file, at: position)
    }

    private static func leasePosition(_ name: RecordName) -> Int { count * size + slot(of: name) * leaseSize }

    private static func hash(of name: RecordName) -> UInt64 {
        [name.partition, name.group].reduce(UInt64(truncatingIfNeeded: name.key >> 64)) { $0 &* 31 ^ $1 }
    }

    // MARK: File

    private func words(_ file: OpenFile, _ count: Int, at position: Int) throws(FileError) -> [UInt64] {
        let bytes = try calls.bytes(of: file, count: count * 8, at: Int64(position))
        return bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return (0..<count).compactMap { _ in reader.number() }
        }
    }

    private func write(_ words: [UInt64], to file: OpenFile, at position: Int) throws(FileError) {
        try calls.check(.write, path)
        var writer = ByteWriter()
        for word in words { writer.append(word) }
        let written = pwrite(file.descriptor, writer.bytes, writer.bytes.count, off_t(position))
        guard written == writer.bytes.count else { throw written < 0 ? FileError.last : FileError(code: EIO) }
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
            path, O_RDWR | O_CREAT, [.oneName, .noOtherUsers], upTo: Int64(Self.count * (Self.size + Self.leaseSize)))
        kept.withLock { $0 = opened }
        return opened.file
    }

    private static func slot(of name: RecordName) -> Int {
        Int(UInt64(truncatingIfNeeded: name.key) % UInt64(count))
    }
}

/// The right of one caller to load a key; see ``RecordDirectory/lease(_:for:now:)``.
package struct RecordLease: Sendable, Hashable {
    let name: RecordName
    let holder = UInt64.random(in: 1 ... .max)
}
