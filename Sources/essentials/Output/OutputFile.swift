import Glibc
import ServiceEssentials
import Synchronization

/// A file that appears under its name only when it is complete.
///
/// The bytes go to a hidden file in the same directory, which is renamed at the end. Hidden files of the same name that
/// killed processes have left are removed. An existing file keeps its
/// permissions. A symbolic link is replaced and not followed, because another user could have created it to have a file
/// overwritten. Devices and pipes are written to directly. Only links in `/dev`, such as `/dev/stdout`, are followed.
final class OutputFile: Sendable {
    /// The hidden file; `nil` for a device or pipe.
    let temporaryPath: String?
    private let path: String
    /// Holds the lock of the hidden file, which shows other processes that it is being written.
    private let lock: OpenFile?
    private let writer: DescriptorWriter
    private let isOpen = Mutex(true)

    /// Opens the file.
    ///
    /// - Throws: `file` if the directory is not writable or the path is a directory.
    init(path: String) throws(RequestFailure) {
        // Only the system creates links in this directory.
        let followsLink = path.utf8.starts(with: "/dev/".utf8)
        var status = stat()
        let exists = (followsLink ? stat(path, &status) : lstat(path, &status)) == 0
        let kind = status.st_mode & S_IFMT
        if Self.isDirectory(path) {
            throw RequestFailure(.file, "“\(path)” is a directory.", remedy: "Name a file in it.")
        }
        let descriptor: Int32
        self.path = path
        if exists, kind != S_IFREG, kind != S_IFLNK {
            (temporaryPath, lock) = (nil, nil)
            descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (followsLink ? 0 : O_NOFOLLOW))
        } else {
            let (temporary, file) = try TemporaryFile.create(for: path)
            (temporaryPath, lock) = (temporary, file)
            // Closing the copy reports what the file system could not write, and the lock stays until the renaming.
            descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        }
        guard descriptor >= 0 else { throw RequestFailure.file("“\(path)” could not be created") }
        if exists, kind == S_IFREG { fchmod(descriptor, status.st_mode & 0o777) }
        writer = DescriptorWriter(descriptor: descriptor, name: "“\(path)”")
    }

    deinit { discard() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) { try writer.write(bytes) }

    /// Closes the file and renames it to its final name.
    ///
    /// - Throws: `file` if buffered bytes cannot be written or the file cannot be renamed.
    func commit() throws(RequestFailure) {
        guard takeOpen() else { return }
        guard close(writer.descriptor) == 0 else {
            let failure = RequestFailure.file("\(writer.name) could not be written to")
            removeTemporary()
            throw failure
        }
        guard let temporaryPath, rename(temporaryPath, path) != 0 else { return }
        let failure = RequestFailure.file("\(writer.name) could not be replaced")
        removeTemporary()
        throw failure
    }

    /// Closes and removes the hidden file. It has no effect after ``commit()``.
    func discard() {
        guard takeOpen() else { return }
        close(writer.descriptor)
        removeTemporary()
    }

    private func takeOpen() -> Bool {
        isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
    }

    private func removeTemporary() {
        if let temporaryPath { unlink(temporaryPath) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

/// The destination of a response body.
enum OutputTarget: Sendable {
    case standardOutput
    /// A file that appears when it is complete.
    case file(OutputFile)
    /// A file whose download is resumed after a failure.
    case download(path: String)
}
