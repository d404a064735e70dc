import EssentialsTools

/// The error number of a system call on a file.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, such as `ENOENT`.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The current `errno` of this thread. Read it before any other call.
    package static var last: FileError { FileError(code: errno) }

    /// Whether a file or directory does not exist.
    package var isMissing: Bool { code == ENOENT }
    /// Whether a lock was not free in time.
    package var isOfLock: Bool { code == EAGAIN }
    /// Whether a file or a record is larger than the maximum.
    package var isTooLarge: Bool { code == EFBIG }

    /// The system's description of the number.
    package var description: String { String(cString: strerror(code)) }
}
