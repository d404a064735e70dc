import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials
import Glibc

/// The files of an outbox. All calls can block, so they belong on a file thread.
///
/// An entry is a file whose name ends with `.request`. It is written into an empty file `.spare`, whose name was
/// flushed to the disk together with the names of others, so an entry needs only one flush of its own. An `AtomicFile`
/// would need two: on ext4 an entry takes 4.2 ms this way, and 7.4 ms with an `AtomicFile`. A complete file with either
/// name is an entry, so the renaming need not be flushed. An incomplete `.spare` was never added. A large body has a
/// file `.body`, and a file `.failed` says why an entry was given up.
struct OutboxFiles: Sendable {
    enum Kind: String, CaseIterable {
        case spare, request, body, failed, damaged
    }

    /// A file of an outbox.
    struct Name: Hashable, Sendable {
        let id: OutboxEntry.ID
        let kind: Kind

        init(_ id: OutboxEntry.ID, _ kind: Kind) { (self.id, self.kind) = (id, kind) }

        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let id = OutboxEntry.ID(String(parts[0])),
                let kind = Kind(rawValue: String(parts[1]))
            else { return nil }
            self.init(id, kind)
        }

        var text: String { id.description + "." + kind.rawValue }
    }

    /// The maximum number of names that are read.
    static let maximumNames = 1_000_000
    /// The number of empty files that are created at a time.
    static let spareCount = 16
    static let lockName = "lock"
    /// The file with the key for hashes of header fields.
    static let keyName = "key"

    let directory: FileDirectory
    private let calls: FileCalls

    init(_ path: String, _ calls: FileCalls) throws(RequestFailure) {
        directory = try FileDirectory(path, calls: calls)
        self.calls = calls
    }

    func path(of name: Name) -> String { path(of: name.text) }

    private func path(of name: String) -> String { directory.path(of: name) }

    // MARK: Lock

    /// Takes the lock of the directory; `nil` if another outbox has it.
    func lock() throws(FileError) -> FileLock? {
        let lock: FileLock?
        do throws(OwnFile.Refusal) {
            lock = try FileLock.attempt(
                path(of: Self.lockName), O_RDWR | O_CREAT, Self.rules, withoutLocks: false, calls: calls)
        } catch {
            throw error.fileError
        }
        try lock?.writeOwner(calls)
        return lock
    }

    /// The process that has the lock; `nil` if it is unknown.
    func holder() -> Int? { FileLock.owner(of: path(of: Self.lockName), Self.rules) }

    /// The rules for files that are written in place: they have no other writers and names.
    private static let rules: OwnFile.Rules = [.oneName, .noOtherWriters]

    /// Opens a file that is written in place: a file of this user without other writers and names.
    private func own(_ name: String, _ flags: Int32) throws(FileError) -> OpenFile {
        do throws(OwnFile.Refusal) {
            return try calls.openOwn(path(of: name), flags, Self.rules).file
        } catch {
            throw error.fileError
        }
    }

    // MARK: Entries

    /// Creates empty files whose names are on the disk.
    func makeSpares() throws(FileError) -> [Name] {
        var spares: [Name] = []
        do throws(FileError) {
            for _ in 0..<Self.spareCount {
                let name = Name(OutboxEntry.ID(number: .random(in: 0 ... .max)), .spare)
                _ = try create(name)
                spares.append(name)
            }
            try directory.sync()
        } catch {
            for name in spares { try? remove(name) }
            throw error
        }
        return spares
    }

    /// Writes an entry into an empty file and returns when its bytes are on the disk.
    func fill(_ spare: Name, with bytes: [UInt8], as id: OutboxEntry.ID) throws(FileError) {
        do throws(FileError) {
            let file = try own(spare.text, O_WRONLY)
            try calls.writeAll(bytes.span.bytes, to: file)
            try sync(file)
            try move(spare, to: Name(id, .request))
        } catch {
            try? remove(spare)
            throw error
        }
    }

    /// Creates the file of a large body.
    func createBody(_ id: OutboxEntry.ID) throws(FileError) -> OpenFile { try create(Name(id, .body)) }

    private func create(_ name: Name) throws(FileError) -> OpenFile {
        try calls.open(path(of: name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    func append(_ bytes: Data, to file: OpenFile) throws(FileError) { try calls.writeAll(bytes.span.bytes, to: file) }

    func sync(_ file: OpenFile) throws(FileError) {
        try calls.flush(file)
    }

    /// Writes a small file that may be lost.
    func write(_ bytes: [UInt8], to name: Name) throws(FileError) {
        let file = try own(name.text, O_WRONLY | O_CREAT)
        try calls.truncate(file, to: 0)
        try calls.writeAll(bytes.span.bytes, to: file)
    }

    /// The key for hashes of header fields; `nil` if there is none.
    func key() throws(FileError) -> FingerprintKey? {
        try read(Self.keyName, upTo: FingerprintKey.size).flatMap { FingerprintKey($0) }
    }

    /// Stores the key for this user only, and returns when it is on the disk. The caller has the lock of the directory.
    func write(_ key: FingerprintKey) throws(FileError) {
        let temporary = Self.keyName + ".new"
        // The lock excludes other writers, so one temporary name is enough. A killed process may have left its file.
        try directory.remove(temporary)
        try AtomicFile.write(
            [key.bytes], to: path(of: Self.keyName), temporary: path(of: temporary), .contentAndName, calls: calls)
    }

    /// The bytes of a file; `nil` if there is no such file, if it is not a file of this user, or if it is too large.
    func read(_ name: Name, upTo maximum: Int) throws(FileError) -> [UInt8]? { try read(name.text, upTo: maximum) }

    private func read(_ name: String, upTo maximum: Int) throws(FileError) -> [UInt8]? {
        guard case .bytes(let bytes) = try directory.read(name, upTo: maximum, isUse: false) else { return nil }
        return bytes
    }

    /// The checksum of the file of a large body, which is read for it.
    func bodyChecksum(_ id: OutboxEntry.ID) throws(FileError) -> UInt64 {
        let file = try OpenFile(path(of: Name(id, .body)), O_RDONLY | O_NOFOLLOW)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: PieceChecksums.pieceSize, alignment: 16)
        defer { memory.deallocate() }
        var (running, position) = (RunningChecksums(), 0 as Int64)
        while true {
            let count = try file.read(into: memory, at: position)
            guard count > 0 else { return running.finished.total }
            running.append(UnsafeRawBufferPointer(rebasing: memory[..<count]))
            position += Int64(count)
        }
    }

    func size(of name: Name) -> UInt64? { directory.status(of: name.text).flatMap { UInt64(exactly: $0.size) } }

    func move(_ name: Name, to target: Name) throws(FileError) {
        try calls.rename(path(of: name), path(of: target))
    }

    func remove(_ name: Name) throws(FileError) { try directory.remove(name.text) }

    /// Removes all files of an entry, beginning with the one that makes it an entry.
    func removeAll(of id: OutboxEntry.ID) throws(FileError) {
        for kind in [Kind.request, .damaged, .failed, .body] { try remove(Name(id, kind)) }
    }
}
