import EssentialsTools

/// The system calls on files. Tests replace them or make them fail.
package struct FileCalls: Sendable {
    /// A kind of system call.
    package enum Kind: Sendable, Hashable, CaseIterable {
        case open, status, permissions, read, write, sync, truncate, lock, link, rename, unlink, list, makeDirectory
    }

    /// Returns the error number with which a call on a path fails, or `nil` to make the real call. Tests set it. The
    /// path is empty if only the descriptor is known.
    package var fault: (@Sendable (Kind, String) -> Int32?)?
    /// Writes some of the bytes, and returns their number or the negated error number.
    package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    /// Flushes the content of a file or directory to the disk. Returns 0 or the error number.
    package var sync: @Sendable (Int32) -> Int32
    /// Gives a file a second name, which must not exist. Returns 0 or the error number.
    package var link: @Sendable (String, String) -> Int32
    /// Removes a name. Returns 0 or the error number.
    package var unlink: @Sendable (String) -> Int32 = { path in
        #if canImport(Glibc)
            let result = Glibc.unlink(path)
        #elseif canImport(Musl)
            let result = Musl.unlink(path)
        #else
            let result = Darwin.unlink(path)
        #endif
        return result == 0 ? 0 : errno
    }
    /// Opens a file without waiting; see ``ResidentOpen``.
    package var openResident: @Sendable (String, Int32) -> ResidentOpen.Outcome = { ResidentOpen.open($0, $1) }
    /// The number of free bytes on the file system of an open file; `nil` if it is unknown.
    package var freeBytes: @Sendable (Int32) -> Int64?

    /// The system's own calls.
    package static let system = FileCalls(
        write: { descriptor, bytes in
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
                let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            return count < 0 ? -Int(errno) : count
        },
        sync: { fsync($0) == 0 ? 0 : errno },
        link: { from, to in
            // linkat, because POSIX does not specify what link does with a symbolic link.
            linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0 ? 0 : errno
        },
        freeBytes: { descriptor in
            var facts = statvfs()
            return fstatvfs(descriptor, &facts) == 0 ? freeBytes(facts) : nil
        })

    /// The number of free bytes on the file system of a path; `nil` if it is unknown. No file is opened.
    package static func freeBytes(besides path: String) -> Int64? {
        var facts = statvfs()
        return statvfs(path, &facts) == 0 ? freeBytes(facts) : nil
    }

    private static func freeBytes(_ facts: statvfs) -> Int64? {
        guard facts.f_blocks > 0 else { return nil }
        let blocks = geteuid() == 0 ? facts.f_bfree : facts.f_bavail
        let (bytes, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        return overflows ? nil : Int64(exactly: bytes)
    }

    /// Fails if a test has requested that the call fails.
    func check(_ kind: Kind, _ path: String = "") throws(FileError) {
        if let code = fault?(kind, path) { throw FileError(code: code) }
    }

    /// Opens a file; see ``OpenFile``.
    package func open(_ path: String, _ flags: Int32, mode: UInt16 = 0o666) throws(FileError) -> OpenFile {
        try check(.open, path)
        return try OpenFile(path, flags, mode: mode)
    }

    /// Opens a file of this program; see ``OwnFile``.
    package func openOwn(
        _ path: String, _ flags: Int32, _ rules: OwnFile.Rules, upTo maximumSize: Int64 = .max, mode: UInt16 = 0o600
    ) throws(OwnFile.Refusal) -> (file: OpenFile, status: FileStatus) {
        do throws(FileError) {
            try check(.open, path)
            try check(.status, path)
        } catch {
            throw .system(error)
        }
        return try OwnFile.open(path, flags, rules, upTo: maximumSize, mode: mode)
    }

    /// The status of the file with a name. A symbolic link is not followed.
    package func status(of path: String) throws(FileError) -> FileStatus {
        try check(.status, path)
        return try FileStatus(of: path, followsLink: false)
    }

    package func status(of file: OpenFile) throws(FileError) -> FileStatus {
        try check(.status)
        return try file.status()
    }

    package func bytes(of file: OpenFile, upTo maximum: Int) throws(FileError) -> [UInt8] {
        try check(.read)
        return try file.bytes(upTo: maximum)
    }

    /// The bytes from a position. There are fewer if the file ends earlier.
    package func bytes(of file: OpenFile, count: Int, at position: Int64 = 0) throws(FileError) -> [UInt8] {
        try check(.read)
        return try file.bytes(count: count, at: position)
    }

    package func setPermissions(_ permissions: UInt16, of file: OpenFile) throws(FileError) {
        try check(.permissions)
        guard fchmod(file.descriptor, mode_t(permissions)) == 0 else { throw FileError.last }
    }

    package func truncate(_ file: OpenFile, to size: Int64) throws(FileError) {
        try check(.truncate)
        try file.truncate(to: size)
    }

    /// Tries to lock a file; see ``OpenFile/lock(isShared:withoutLocks:)``.
    package func lock(_ file: OpenFile, withoutLocks: Bool) throws(FileError) -> Bool {
        try check(.lock)
        return try file.lock(withoutLocks: withoutLocks)
    }

    /// Renames a file. An existing file with the new name is replaced.
    package func rename(_ path: String, _ other: String) throws(FileError) {
        try check(.rename, other)
        #if canImport(Glibc)
            let code = Glibc.rename(path, other)
        #elseif canImport(Musl)
            let code = Musl.rename(path, other)
        #else
            let code = Darwin.rename(path, other)
        #endif
        guard code == 0 else { throw FileError.last }
    }

    /// Renames a file, unless a file with the new name exists. If several processes try, only one succeeds.
    ///
    /// On a file system without hard links the file is renamed under the lock of its directory.
    ///
    /// - Parameter claims: Whether an empty file reserves the name on such a file system. No other program can then
    ///   take the name, but readers find the empty file for a moment. It stays if the process is killed at that moment.
    /// - Returns: `false` if a file with the new name exists. The file then keeps its own name, as it does after a
    ///   failure.
    package func moveUnlessThere(
        _ path: String, _ other: String, claims: Bool = false
    ) throws(FileError) -> Bool {
        switch fault?(.link, other) ?? link(path, other) {
        case 0:
            // If this fails, the file has both names.
            try? remove(path)
            return true
        case EEXIST: return false
        default: break
        }
        if claims { return try moveOntoClaim(path, other) }
        let lock = try FileLock.wait(directory: AbsolutePath.directory(of: other), calls: self)
        defer { withExtendedLifetime(lock) {} }
        do throws(FileError) {
            _ = try status(of: other)
            return false
        } catch {
            guard error.isMissing else { throw error }
        }
        try rename(path, other)
        return true
    }

    private func moveOntoClaim(_ path: String, _ other: String) throws(FileError) -> Bool {
        let claim: OpenFile
        do throws(FileError) {
            claim = try open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
        defer { withExtendedLifetime(claim) {} }
        do throws(FileError) {
            try rename(path, other)
        } catch {
            try? remove(other)
            throw error
        }
        return true
    }

    /// Removes a name. If the file does not exist, nothing happens.
    package func remove(_ path: String) throws(FileError) {
        try check(.unlink, path)
        let code = unlink(path)
        guard code == 0 || code == ENOENT else { throw FileError(code: code) }
    }

    /// Flushes the content of a file to the disk.
    ///
    /// - Parameter isRequired: Whether it is a failure if the file system does not support this.
    package func flush(_ file: OpenFile, isRequired: Bool = true) throws(FileError) {
        try check(.sync)
        let code = sync(file.descriptor)
        guard code == 0 || !isRequired && (code == EINVAL || code == ENOTSUP) else { throw FileError(code: code) }
    }

    /// Flushes the names in a directory to the disk. It is not a failure if the file system does not support this.
    package func flushDirectory(_ path: String) throws(FileError) {
        try flush(open(path, O_RDONLY | O_DIRECTORY), isRequired: false)
    }

    /// Writes all of the bytes.
    package func writeAll(_ bytes: RawSpan, to file: OpenFile) throws(FileError) {
        try bytes.withUnsafeBytes { bytes throws(FileError) in try writeAll(bytes, to: file.descriptor) }
    }

    /// Writes all of the bytes.
    package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) {
        try check(.write)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count == -Int(EINTR) { continue }
            // Writing 0 bytes without an error counts as an error, because a retry could loop forever.
            guard count > 0 else { throw FileError(code: count == 0 ? EIO : Int32(clamping: -count)) }
            rest = rest.dropFirst(count)
        }
    }
}
