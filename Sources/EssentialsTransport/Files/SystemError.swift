import EssentialsTools

/// An error number of the system. It is the underlying error of failures with the reason `file`.
///
/// ```swift
/// do throws(RequestFailure) {
///     try await requests.download("films/1", to: "/srv/films/1.mp4")
/// } catch where (error.underlying as? SystemError)?.code == ENOSPC {
///     askForSpace()
/// }
/// ```
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, such as `ENOENT`.
    public let code: Int32

    /// Creates an error from a number.
    public init(code: Int32) { self.code = code }

    /// The current `errno` of this thread. Read it before any other call.
    package static var last: SystemError { SystemError(code: errno) }

    /// The system's description of the number.
    public var description: String { String(cString: strerror(code)) }

    /// What to try, if it is more specific than the remedy of the reason `file`.
    var remedy: String? {
        switch code {
        case ENOENT: "Check the spelling of the path, and that it exists."
        case ENOTDIR: "Check the path; a part of it is not a directory."
        case EISDIR: "Name a file in the directory."
        case EACCES, EPERM: "Check the permissions and the owners of the file and its directory."
        case EROFS: "Choose another place; this file system is mounted read-only."
        case ENOSPC: "Free space on the disk, or choose another place."
        case EDQUOT: "Free space within the quota, have it raised, or choose another place."
        case EFBIG: "Raise the limit of file sizes (ulimit -f), or choose another file system."
        case ENAMETOOLONG: "Choose a shorter name; temporary names are up to 15 bytes longer."
        case ELOOP: "Remove the symbolic link; symbolic links are not followed here."
        case EEXIST: "Remove the file, choose another name, or allow replacing."
        case EMFILE, ENFILE: "Close files, or raise the limit of open files (ulimit -n)."
        case EIO: "Check the disk and the system's log."
        default: nil
        }
    }
}

extension RequestFailure {
    /// A path for a message: at most 1,024 characters, with control characters replaced.
    package static func shownPath(_ path: String) -> String {
        var visible = String.UnicodeScalarView()
        for scalar in path.unicodeScalars.prefix(1024) {
            visible.append(scalar.value < 0x20 || scalar.value == 0x7f ? "\u{FFFD}" : scalar)
        }
        return String(visible)
    }
}
