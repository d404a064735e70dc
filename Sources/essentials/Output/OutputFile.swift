import Glibc
import ServiceEssentials
import Synchronization

/// A file that appears under its name when it is whole, and not at all before.
///
/// The bytes go to a hidden file in the same directory, which is renamed at the end. An existing file keeps its
/// permissions; a symbolic link keeps leading to it. A device or a pipe is written to directly.
final class OutputFile: Sendable {
    /// The hidden file; nil when a device or pipe is written to.
    let temporaryPath: String?
    private let path: String
    private let writer: DescriptorWriter
    private let isOpen = Mutex(true)

    /// Opens the file.
    ///
    /// - Throws: `file` when the directory cannot be written to, or the path is a directory.
    init(path: String) throws(RequestFailure) {
        var status = stat()
        let exists = stat(path, &status) == 0
        let kind = status.st_mode & S_IFMT
        if exists, kind == S_IFDIR {
            throw RequestFailure(.file, "“\(path)” is a directory.", remedy: "Name a file.")
        }
        let descriptor: Int32
        if exists, kind != S_IFREG {
            self.path = path
            temporaryPath = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            self.path = Self.target(of: path)
            let temporary = Self.hiddenPath(beside: self.path)
            temporaryPath = temporary
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        }
        guard descriptor >= 0 else { throw SystemError.file("“\(path)” could not be created") }
        if exists, kind == S_IFREG { fchmod(descriptor, status.st_mode & 0o777) }
        writer = DescriptorWriter(descriptor: descriptor, name: "“\(path)”")
    }

    deinit { discard() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(RequestFailure) { try writer.write(bytes) }

    /// Closes the file and gives it its name.
    ///
    /// - Throws: `file` when the system has kept bytes back until now and cannot write them, or cannot rename.
    func commit() throws(RequestFailure) {
        guard takeOpen() else { return }
        guard close(writer.descriptor) == 0 else {
            let failure = SystemError.file("\(writer.name) could not be written to")
            removeTemporary()
            throw failure
        }
        guard let temporaryPath, rename(temporaryPath, path) != 0 else { return }
        let failure = SystemError.file("\(writer.name) could not be replaced")
        removeTemporary()
        throw failure
    }

    /// Closes and removes what was written. Nothing after ``commit()``.
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

    /// Where a symbolic link leads, so that the rename replaces the file and not the link.
    private static func target(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func hiddenPath(beside path: String) -> String {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
        // Names may have 255 bytes; the full name would not always fit with what is added.
        let name = String(decoding: bytes[start...].prefix(200), as: UTF8.self)
        return "\(path[..<start]).\(name).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
    }
}
