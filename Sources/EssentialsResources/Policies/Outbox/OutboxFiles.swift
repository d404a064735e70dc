import EssentialsHTTP
import FoundationEssentials
import Glibc

/// The files of an outbox. All calls can block, so they belong on a file thread.
///
/// An entry is a file whose name ends with `.new` while it is written and with `.request` afterwards. The bytes and the name
/// of a new file are flushed before the entry counts as added. A complete file with either name is an entry, so the
/// renaming itself need not be flushed, and an incomplete `.new` was never added. A large body has a file `.body`, and a
/// file `.failed` says why an entry was given up.
struct OutboxFiles: Sendable {
    enum Kind: String, CaseIterable {
        case new, request, body, failed, damaged
    }

    /// A file of an outbox.
    struct Name: Hashable, Sendable {
        let id: OutboxEntry.ID
        let kind: Kind

        init(_ id: OutboxEntry.ID, _ kind: Kind) { (self.id, self.kind) = (id, kind) }

        init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let id = OutboxEntry.ID(String(parts[0])), let kind = Kind(rawValue: String(parts[1]))
            else { return nil }
            self.init(id, kind)
        }

        var text: String { "\(id).\(kind.rawValue)" }
    }

    /// The maximum number of names that are read.
    static let maximumNames = 1_000_000
    static let lockName = "lock"

    let directory: FileDirectory
    private let calls: FileCalls

    init(_ path: String, _ calls: FileCalls) throws(RequestFailure) {
        directory = try FileDirectory(path, calls: calls)
        self.calls = calls
    }

    func path(of name: Name) -> String { path(of: name.text) }

    private func path(of name: String) -> String {
        directory.path.hasSuffix("/") ? directory.path + name : directory.path + "/" + name
    }

    // MARK: Lock

    /// Takes the lock of the directory; `nil` if another outbox has it.
    func lock() throws(SystemError) -> OpenFile? {
        let file = try OpenFile(path(of: Self.lockName), O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard file.lock(otherwise: false) else { return nil }
        try file.truncate(to: 0)
        try calls.writeAll(Array("\(getpid())\n".utf8), to: file)
        return file
    }

    /// The process that has the lock; `nil` if this cannot be found out.
    func holder() -> Int? {
        guard let file = try? OpenFile(path(of: Self.lockName), O_RDONLY | O_NOFOLLOW) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = (try? bytes.withUnsafeMutableBytes { buffer throws(SystemError) in
            try file.read(into: buffer, at: 0)
        }) ?? 0
        return Int(String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    // MARK: Entries

    /// Writes a new file and returns when its bytes and its name are on the disk.
    func writeNew(_ id: OutboxEntry.ID, _ bytes: [UInt8]) throws(SystemError) {
        let path = path(of: Name(id, .new))
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            try calls.writeAll(bytes, to: file)
            try sync(file)
            try directory.sync()
            guard rename(path, self.path(of: Name(id, .request))) == 0 else { throw SystemError.last }
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Creates the file of a large body.
    func createBody(_ id: OutboxEntry.ID) throws(SystemError) -> OpenFile {
        try OpenFile(path(of: Name(id, .body)), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    func append(_ bytes: Data, to file: OpenFile) throws(SystemError) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
            try calls.writeAll(bytes, to: file.descriptor)
        }
    }

    func sync(_ file: OpenFile) throws(SystemError) {
        let code = calls.sync(file.descriptor)
        guard code == 0 else { throw SystemError(code: code) }
    }

    /// Writes a small file that may be lost.
    func write(_ bytes: [UInt8], to name: Name) throws(SystemError) {
        let file = try OpenFile(path(of: name), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try calls.writeAll(bytes, to: file)
    }

    /// The bytes of a file; `nil` if there is none, if it is no file of this user, or if it is too large.
    func read(_ name: Name, upTo maximum: Int) throws(SystemError) -> [UInt8]? {
        let file: OpenFile
        do throws(SystemError) {
            file = try OpenFile(path(of: name), O_RDONLY | O_NOFOLLOW)
        } catch {
            if error.isMissing || error.code == ELOOP { return nil }
            throw error
        }
        let status = try file.status()
        guard status.isRegular, status.owner == geteuid(), status.size <= maximum else { return nil }
        var failure: SystemError?
        let size = Int(clamping: status.size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            do throws(SystemError) {
                let all = UnsafeMutableRawBufferPointer(buffer)
                count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: all[..<size]), at: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func size(of name: Name) -> UInt64? { directory.status(of: name.text).flatMap { UInt64(exactly: $0.size) } }

    func move(_ name: Name, to kind: Kind) throws(SystemError) {
        guard rename(path(of: name), path(of: Name(name.id, kind))) == 0 else { throw SystemError.last }
    }

    func remove(_ name: Name) throws(SystemError) { try directory.remove(name.text) }

    /// Removes all files of an entry, the one that makes it an entry first.
    func removeAll(of id: OutboxEntry.ID) throws(SystemError) {
        for kind in [Kind.request, .new, .damaged, .failed, .body] { try remove(Name(id, kind)) }
    }
}

extension FileCalls {
    fileprivate func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
            try writeAll(bytes, to: file.descriptor)
        }
    }
}
