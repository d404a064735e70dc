import EssentialsStorage
import EssentialsTools
import ServiceEssentials

/// A file that appears under its name only when it is complete.
///
/// The bytes go to a hidden file in the same directory, which is renamed at the end. Hidden files of the same name that
/// killed processes have left are removed. An existing file keeps its
/// permissions. A symbolic link is replaced and not followed, because another user could have created it to have a file
/// overwritten. Devices and pipes are written to directly. Only links in `/dev`, such as `/dev/stdout`, are followed.
final class OutputFile: Sendable {
    /// The new version of the file, whose lock shows other processes that it is being written; `nil` for a device or pipe.
    private let version: AtomicFile?
    private let writer: DescriptorWriter
    private let isOpen = Mutex(true)

    /// The hidden file; `nil` for a device or pipe.
    var temporaryPath: String? { version?.temporary }

    /// Opens the file.
    ///
    /// - Parameter isPrivate: Whether a new file is for this user only (mode 0600).
    /// - Throws: `file` if the directory is not writable or the path is a directory.
    init(path: String, isPrivate: Bool = false) throws(RequestFailure) {
        // Only the system creates links in this directory.
        let followsLink = path.utf8.starts(with: "/dev/".utf8)
        let existing = try? FileStatus(of: path, followsLink: followsLink)
        if (try? FileStatus(of: path))?.isDirectory == true {
            throw RequestFailure(.file, "“\(path)” is a directory.", remedy: "Name a file in it.")
        }
        let descriptor: Int32
        if let existing, !existing.isRegular, !existing.isLink {
            version = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (followsLink ? 0 : O_NOFOLLOW))
        } else {
            let place = try FilePlace.of(path)
            AbandonedFiles.remove(beside: place)
            let file = try RequestFailure.onFile(
                path, "could not be created", missing: "Create the directory.", phase: .preparation
            ) { () throws(FileError) in try AtomicFile(place, .none, isPrivate: isPrivate) }
            version = file
            // Closing the copy reports what the file system could not write, and the lock stays until the renaming.
            descriptor = fcntl(file.file.descriptor, F_DUPFD_CLOEXEC, 0)
        }
        guard descriptor >= 0 else {
            let failure = RequestFailure.file("“\(path)” could not be created")
            version?.abandon()
            throw failure
        }
        if let existing, existing.isRegular { fchmod(descriptor, mode_t(existing.permissions & 0o777)) }
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
            version?.abandon()
            throw failure
        }
        do { try version?.commit() } catch {
            throw RequestFailure(.file, "\(writer.name) could not be replaced: \(error).")
        }
    }

    /// Closes and removes the hidden file. It has no effect after ``commit()``.
    func discard() {
        guard takeOpen() else { return }
        close(writer.descriptor)
        version?.abandon()
    }

    private func takeOpen() -> Bool {
        isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
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
