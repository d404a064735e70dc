#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An error number of the system: the underlying error of failures with the reason `file`.
///
/// ```swift
/// catch where (error.underlying as? SystemError)?.code == ENOSPC { askForSpace() }
/// ```
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number, such as `ENOENT`.
    public let code: Int32

    /// Makes one from a number.
    public init(code: Int32) { self.code = code }

    /// What the last call of this thread left in `errno`. Read before anything else is called.
    package static var last: SystemError { SystemError(code: errno) }

    /// The system's own text for the number.
    public var description: String { String(cString: strerror(code)) }

    /// What to try, where there is more to say than for any file.
    var remedy: String? {
        switch code {
        case ENOENT: "Check the path; only downloads make directories, and only when told to."
        case ENOTDIR: "Check the path; a part of it is no directory."
        case EISDIR: "Name a file in the directory."
        case EACCES, EPERM: "Check the permissions of the file and its directory, and whose they are."
        case EROFS: "Choose another place; this file system is mounted read-only."
        case ENOSPC: "Free space on the disk, or choose another place."
        case EDQUOT: "Free space within the quota, have it raised, or choose another place."
        case EFBIG: "Raise the limit of file sizes (ulimit -f), or choose another file system."
        case ENAMETOOLONG: "Choose a shorter name; names beside it get up to 15 more bytes."
        case ELOOP: "Take the symbolic link away; none is followed here."
        case EEXIST: "Remove the file, choose another name, or allow replacing."
        case EMFILE, ENFILE: "Close files, or raise the limit of open ones (ulimit -n)."
        case EIO: "Check the disk and the system's log."
        default: nil
        }
    }
}

extension RequestFailure {
    /// A failure of the reason `file`: the path, what could not be done, and the system's reason.
    package static func file(_ path: String, _ what: String, _ error: SystemError, phase: Phase) -> RequestFailure {
        RequestFailure(
            .file, "“\(shownPath(path))” \(what): \(error).", remedy: error.remedy, phase: phase, underlying: error)
    }

    /// Runs work on a file, and says with its path what could not be done.
    package static func onFile<Value>(
        _ path: String, _ what: String, phase: Phase, _ work: () throws(SystemError) -> Value
    ) throws(RequestFailure) -> Value {
        do { return try work() } catch { throw file(path, what, error, phase: phase) }
    }

    /// A path for a message: whole, as far as one can be read, without control characters.
    package static func shownPath(_ path: String) -> String {
        var visible = String.UnicodeScalarView()
        for scalar in path.unicodeScalars.prefix(1024) {
            visible.append(scalar.value < 0x20 || scalar.value == 0x7f ? "\u{FFFD}" : scalar)
        }
        return String(visible)
    }
}
