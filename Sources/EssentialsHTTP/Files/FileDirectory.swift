#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A directory of small files that one program owns and several of its processes may use at the same time.
///
/// A file is written under a temporary name and renamed, so that readers find the old or the new content and never a part.
/// Nothing is flushed to the disk: after a power failure a file may be damaged, which its content has to show. All calls
/// can block, so they belong on a file thread.
package struct FileDirectory: Sendable {
    /// What is behind a name.
    package enum Content: Sendable {
        case missing
        /// No regular file of this user, or a file that is too large.
        case unfit
        case bytes([UInt8])
    }

    /// The absolute path.
    package let path: String
    private let calls: FileCalls

    /// - Parameter calls: Replaced by tests to make them fail.
    package init(_ path: String, calls: FileCalls = .system) throws(RequestFailure) {
        self.path = try AbsolutePath.of(path)
        self.calls = calls
    }

    private func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// Creates the directory and its missing parents for this user only (mode 0700), unless it exists.
    ///
    /// - Throws: `EPERM` if the directory belongs to another user; `ENOTDIR` if it is something else.
    package func make() throws(SystemError) {
        var missing: [String] = []
        var current = path
        while current != "/", !isThere(current) {
            missing.append(current)
            let slash = current.utf8.lastIndex(of: UInt8(ascii: "/")) ?? current.startIndex
            current = slash == current.startIndex ? "/" : String(current[..<slash])
        }
        for directory in missing.reversed() where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw SystemError.last
        }
        let status = try FileStatus(of: path)
        guard status.isDirectory else { throw SystemError(code: ENOTDIR) }
        guard status.owner == geteuid() else { throw SystemError(code: EPERM) }
    }

    private func isThere(_ path: String, followsLink: Bool = true) -> Bool {
        do { _ = try FileStatus(of: path, followsLink: followsLink) } catch { return error.code != ENOENT }
        return true
    }

    /// The names in the directory, at most so many, in no order.
    package func names(upTo maximum: Int) throws(SystemError) -> [String] {
        guard let entries = opendir(path) else {
            if errno == ENOENT { return [] }
            throw SystemError.last
        }
        defer { closedir(entries) }
        var names: [String] = []
        while names.count < maximum, let entry = readdir(entries) {
            // Read in place: an entry is only as long as its name, so copying the whole field would read past its end.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The status of a file of this user; `nil` if there is none.
    package func status(of name: String) -> FileStatus? {
        guard let status = try? FileStatus(of: path(of: name), followsLink: false), status.isRegular,
            status.owner == geteuid()
        else { return nil }
        return status
    }

    /// Reads a file, and notes that it was used by renewing its time of change.
    package func read(_ name: String, upTo maximum: Int) throws(SystemError) -> Content {
        let (opened, status): (OpenFile, FileStatus)
        do throws(OwnFile.Refusal) {
            (opened, status) = try OwnFile.open(path(of: name), O_RDONLY, [], upTo: Int64(maximum))
        } catch {
            if error.isMissing { return .missing }
            if error.isOfOthers { return .unfit }
            throw error.systemError
        }
        let size = Int(clamping: status.size)
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            do throws(SystemError) {
                count = try opened.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size]),
                    at: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        // A file system without these times still has a cache.
        _ = futimens(opened.descriptor, nil)
        return .bytes(bytes)
    }

    /// Writes a file for this user only (mode 0600), in place of the one that is there.
    ///
    /// - Parameter temporary: A name that ``removeAbandoned(_:)`` is called for later, in case the process is killed.
    package func write(_ head: [UInt8], _ body: Data, to name: String, temporary: String) throws(SystemError) {
        let path = path(of: temporary)
        let target = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(SystemError) {
            // The lock shows other processes that the file is being written.
            _ = target.lock()
            guard fchmod(target.descriptor, 0o600) == 0 else { throw SystemError.last }
            try writeAll(head.span.bytes, to: target)
            try writeAll(body.span.bytes, to: target)
            guard rename(path, self.path(of: name)) == 0 else { throw SystemError.last }
        } catch {
            unlink(path)
            throw error
        }
    }

    private func writeAll(_ bytes: RawSpan, to target: OpenFile) throws(SystemError) {
        try bytes.withUnsafeBytes { bytes throws(SystemError) in
            try calls.writeAll(bytes, to: target.descriptor)
        }
    }

    /// Opens a file of this user for reading; `nil` if there is none.
    package func open(_ name: String) throws(SystemError) -> OpenFile? {
        do throws(OwnFile.Refusal) {
            return try OwnFile.open(path(of: name), O_RDONLY, []).file
        } catch {
            if error.isMissing || error.isOfOthers { return nil }
            throw error.systemError
        }
    }

    /// Creates a file for this user only (mode 0600), which is written piece by piece and then moved to its name.
    ///
    /// - Parameter temporary: A name that ``removeAbandoned(_:)`` is called for later, in case the process is killed.
    package func create(temporary: String) throws(SystemError) -> OpenFile {
        let created = try OpenFile(path(of: temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        // The lock shows other processes that the file is being written.
        _ = created.lock()
        guard fchmod(created.descriptor, 0o600) == 0 else {
            let error = SystemError.last
            unlink(path(of: temporary))
            throw error
        }
        return created
    }

    /// Appends bytes to a file of ``create(temporary:)``.
    package func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(SystemError) {
        try calls.writeAll(bytes, to: file.descriptor)
    }

    /// Gives a file another name, in place of the file that has it.
    package func move(_ name: String, to other: String) throws(SystemError) {
        guard rename(path(of: name), path(of: other)) == 0 else { throw SystemError.last }
    }

    /// Gives a file of ``create(temporary:)`` its name, unless a file has that name already. The temporary name is removed
    /// in either case.
    ///
    /// On a file system without hard links the file is renamed under the lock of the directory.
    ///
    /// - Returns: Whether no file had the name. Of several processes only one succeeds.
    package func publish(_ temporary: String, as name: String) throws(SystemError) -> Bool {
        defer { unlink(path(of: temporary)) }
        switch calls.link(path(of: temporary), path(of: name)) {
        case 0: return true
        case EEXIST: return false
        case EPERM, EACCES, ENOSYS, EOPNOTSUPP, EMLINK, EINVAL: break
        case let code: throw SystemError(code: code)
        }
        return try locked { () throws(SystemError) -> Bool in
            guard !isThere(path(of: name), followsLink: false) else { return false }
            try move(temporary, to: name)
            return true
        }
    }

    /// How often the lock of the directory is tried, with a millisecond in between.
    private static let lockAttempts = 1_000

    /// Does some work while no other process and no other task works under the lock of the directory (flock(2)). The lock
    /// ends with the process that holds it. Without a directory, or on a file system without locks, there is none.
    ///
    /// - Throws: `EAGAIN` if another process has held the lock for a second.
    package func locked<Value>(_ work: () throws(SystemError) -> Value) throws(SystemError) -> Value {
        let file: OpenFile
        do throws(SystemError) {
            file = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        } catch {
            guard error.isMissing else { throw error }
            return try work()
        }
        for _ in 0..<Self.lockAttempts {
            if file.lock() {
                defer { withExtendedLifetime(file) {} }
                return try work()
            }
            usleep(1_000)
        }
        throw SystemError(code: EAGAIN)
    }

    /// Removes a file. Without one nothing happens.
    package func remove(_ name: String) throws(SystemError) {
        let code = calls.unlink(path(of: name))
        guard code == 0 || code == ENOENT else { throw SystemError(code: code) }
    }

    /// Removes a temporary file that no process writes to any more.
    package func removeAbandoned(_ temporary: String) {
        _ = AbandonedFiles.removeIfAbandoned(path(of: temporary))
    }

    /// Flushes the names in the directory to the disk, so that a removed file does not come back after a power failure.
    package func sync() throws(SystemError) {
        let opened = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        let code = calls.sync(opened.descriptor)
        // Some file systems cannot flush a directory.
        guard code == 0 || code == EINVAL else { throw SystemError(code: code) }
    }
}
