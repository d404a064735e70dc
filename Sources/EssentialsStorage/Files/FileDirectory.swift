import EssentialsTools

/// A directory of small files that belongs to one program. Several of its processes may use it at the same time.
///
/// A file is written under a temporary name and renamed, so that readers find the old or the new content and never a
/// part. Nothing is flushed to the disk: after a loss of power a file may be damaged, so its content must allow a
/// check. All calls can block, so they belong on a file thread.
package struct FileDirectory: Sendable {
    /// The content of a file.
    package enum Content: Sendable {
        case missing
        /// The file is not a regular file of this user, or it is too large.
        case unfit
        case bytes([UInt8])
    }

    /// The absolute path.
    package let path: String
    package let calls: FileCalls

    /// - Parameter calls: The system calls. Tests replace them to make them fail.
    package init(absolute path: String, calls: FileCalls = .system) { (self.path, self.calls) = (path, calls) }

    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// Creates the directory and its missing parents for this user only (mode 0700), unless it exists.
    ///
    /// - Throws: `EPERM` if the directory belongs to another user; `ENOTDIR` if it is not a directory.
    package func make() throws(FileError) {
        var made: [String] = []
        try Self.make(path, mode: 0o700, made: &made)
        let status = try FileStatus(of: path)
        guard status.isDirectory else { throw FileError(code: ENOTDIR) }
        guard status.owner == geteuid() else { throw FileError(code: EPERM) }
    }

    /// Creates a directory and its missing parents.
    ///
    /// - Parameters:
    ///   - mode: The permissions before the process's mask is applied.
    ///   - made: The created directories are added to it, the outermost first, even if a later one fails.
    package static func make(_ path: String, mode: UInt16, made: inout [String]) throws(FileError) {
        // Searches from the innermost directory outwards, because outer ones may not be readable.
        var missing: [String] = []
        var current = path
        while current != "/", !isThere(current) {
            missing.append(current)
            current = AbsolutePath.directory(of: current)
        }
        for directory in missing.reversed() {
            if mkdir(directory, mode_t(mode)) == 0 {
                made.append(directory)
            } else if errno != EEXIST {
                throw FileError.last
            }
        }
    }

    /// Whether a path exists. If the check fails, it counts as existing, so that the later use reports the error.
    private static func isThere(_ path: String) -> Bool {
        do { _ = try FileStatus(of: path) } catch { return error.code != ENOENT }
        return true
    }

    /// The names in the directory, up to a maximum, in no order.
    package func names(upTo maximum: Int) throws(FileError) -> [String] {
        do throws(FileError) {
            return try DirectoryNames.read(path, upTo: maximum)
        } catch {
            guard error.isMissing else { throw error }
            return []
        }
    }

    /// The status of a regular file of this user; `nil` if the file does not exist, or if its status cannot be read.
    package func status(of name: String) -> FileStatus? {
        guard let status = try? FileStatus(of: path(of: name), followsLink: false), status.isRegular,
            status.owner == geteuid()
        else { return nil }
        return status
    }

    /// Reads a file.
    ///
    /// - Parameter isUse: Whether its modification time is renewed, to record the use.
    package func read(_ name: String, upTo maximum: Int, isUse: Bool = true) throws(FileError) -> Content {
        let (opened, status): (OpenFile, FileStatus)
        do throws(OwnFile.Refusal) {
            (opened, status) = try calls.openOwn(path(of: name), O_RDONLY, [], upTo: Int64(maximum))
        } catch {
            if error.isMissing { return .missing }
            if error.isOfOthers { return .unfit }
            throw error.fileError
        }
        let bytes = try calls.bytes(of: opened, upTo: Int(clamping: status.size))
        // A file system without modification times can still hold a cache.
        if isUse { _ = futimens(opened.descriptor, nil) }
        return .bytes(bytes)
    }

    /// Begins a new version of a file; see ``AtomicFile``. Nothing is flushed to the disk.
    ///
    /// - Parameter temporary: A temporary name. Pass it to ``removeAbandoned(_:)`` later, in case the process is
    ///   killed.
    package func begin(_ name: String, temporary: @autoclosure () -> String) throws(FileError) -> AtomicFile {
        try AtomicFile(path(of: name), temporary: path(of: temporary()), .none, calls: calls)
    }

    /// Removes a file. If it does not exist, nothing happens.
    package func remove(_ name: String) throws(FileError) {
        try calls.remove(path(of: name))
    }

    /// Removes a temporary file that no process is writing any more.
    package func removeAbandoned(_ temporary: String) {
        _ = AbandonedFiles.removeIfAbandoned(path(of: temporary))
    }

    /// Flushes the names in the directory to the disk, so that a removed file does not reappear after a loss of power.
    package func sync() throws(FileError) { try calls.flushDirectory(path) }
}
