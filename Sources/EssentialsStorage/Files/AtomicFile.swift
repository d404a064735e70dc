import EssentialsTools

/// A new version of a file. It is written under a temporary name beside the old version, and then renamed. A reader
/// finds the old version or the new one. If the process is killed, the old version stays, and possibly the temporary
/// file.
///
/// Every value ends with ``commit()``, ``commitUnlessThere()`` or ``abandon()``. All calls can block, so they belong on
/// a file thread.
package struct AtomicFile: Sendable {
    /// The guarantee for a loss of power after ``commit()``.
    package enum Durability: Sendable {
        /// A loss of power can leave an empty or damaged file.
        case none
        /// A loss of power leaves the old or the new version.
        case content
        /// A loss of power leaves the new version.
        case contentAndName
    }

    private static let maximumAttempts = 16

    package let path: String
    package let temporary: String
    /// The written file. Its lock shows other processes that it is in use.
    package let file: OpenFile
    private let durability: Durability
    private let calls: FileCalls

    /// Creates the temporary file.
    ///
    /// - Parameters:
    ///   - temporary: A new name in the same directory, which is swept later in case the process is killed.
    ///   - isPrivate: Whether the file is for this user only (mode 0600). Otherwise the mask of the process decides.
    package init(
        _ path: String, temporary: @autoclosure () -> String, _ durability: Durability, isPrivate: Bool = true,
        calls: FileCalls = .system
    ) throws(FileError) {
        (self.path, self.durability, self.calls) = (path, durability, calls)
        var attempts = 0
        while true {
            attempts += 1
            let name = temporary()
            let mode: UInt16 = isPrivate ? 0o600 : 0o666
            let file = try calls.open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            do throws(FileError) {
                // Before it was locked, a sweep may have removed the file as one of a killed process.
                let isLocked = try calls.lock(file, withoutLocks: true)
                let isOurs = isLocked ? try Self.isThere(name, file, calls) : false
                // The mask of the process may have removed permissions of the file's owner.
                if isOurs || attempts >= Self.maximumAttempts {
                    if isPrivate { try calls.setPermissions(0o600, of: file) }
                    (self.temporary, self.file) = (name, file)
                    return
                }
            } catch {
                try? calls.remove(name)
                throw error
            }
        }
    }

    /// Creates the temporary file under one of the place's names, which ``AbandonedFiles/remove(beside:)`` sweeps.
    package init(
        _ place: FilePlace, _ durability: Durability, isPrivate: Bool = true, calls: FileCalls = .system
    ) throws(FileError) {
        try self.init(place.path, temporary: place.temporary(), durability, isPrivate: isPrivate, calls: calls)
    }

    private static func isThere(_ path: String, _ file: OpenFile, _ calls: FileCalls) throws(FileError) -> Bool {
        do throws(FileError) {
            let named = try calls.status(of: path)
            return named.identity == (try calls.status(of: file)).identity
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }

    package func append(_ bytes: RawSpan) throws(FileError) { try calls.writeAll(bytes, to: file) }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try calls.writeAll(bytes, to: file.descriptor)
    }

    /// Replaces the old version with the new one. If that fails, the old version stays and the temporary file is
    /// removed.
    ///
    /// - Returns: The status of the new version.
    /// - Throws: The error, even if only the name could not be flushed. The new version is then in place.
    @discardableResult
    package func commit() throws(FileError) -> FileStatus {
        let status: FileStatus
        do throws(FileError) {
            status = try flushed()
            try calls.rename(temporary, path)
        } catch {
            abandon()
            throw error
        }
        if durability == .contentAndName { try flushDirectory() }
        return status
    }

    /// Puts the file in place, unless a file exists there; see ``FileCalls/moveUnlessThere(_:_:claims:)``. The
    /// temporary name is removed in either case.
    ///
    /// - Returns: Whether the file was put in place.
    package func commitUnlessThere() throws(FileError) -> Bool {
        defer { abandon() }
        _ = try flushed()
        guard try calls.moveUnlessThere(temporary, path) else { return false }
        if durability == .contentAndName { try flushDirectory() }
        return true
    }

    /// Puts a file in place that another library has written under a temporary name and closed. The file and its name
    /// are flushed to the disk, and the temporary name is removed in any case.
    ///
    /// - Parameter replaces: Whether an existing file is replaced. If not, it stays, even if another program creates it
    ///   at the last moment.
    /// - Returns: Whether the file is in place.
    /// - Throws: The error, even if only the name could not be flushed. The file is then in place.
    package static func place(
        _ temporary: String, at path: String, replaces: Bool = true, calls: FileCalls = .system
    ) throws(FileError) -> Bool {
        defer { try? calls.remove(temporary) }
        try calls.flush(calls.open(temporary, O_RDONLY))
        if replaces {
            try calls.rename(temporary, path)
        } else if try !calls.moveUnlessThere(temporary, path, claims: true) {
            return false
        }
        try calls.flushDirectory(AbsolutePath.directory(of: path))
        return true
    }

    /// Removes the temporary file.
    package func abandon() { try? calls.remove(temporary) }

    private func flushed() throws(FileError) -> FileStatus {
        if durability != .none { try calls.flush(file) }
        // The status is read before the renaming, because after it only the flush of the name may fail.
        return try calls.status(of: file)
    }

    private func flushDirectory() throws(FileError) { try calls.flushDirectory(AbsolutePath.directory(of: path)) }

    /// Writes a whole file; see ``commit()``.
    @discardableResult
    package static func write(
        _ parts: [[UInt8]], to path: String, temporary: @autoclosure () -> String, _ durability: Durability,
        calls: FileCalls = .system
    ) throws(FileError) -> FileStatus {
        let file = try AtomicFile(path, temporary: temporary(), durability, calls: calls)
        do throws(FileError) {
            for part in parts { try file.append(part.span.bytes) }
        } catch {
            file.abandon()
            throw error
        }
        return try file.commit()
    }
}
