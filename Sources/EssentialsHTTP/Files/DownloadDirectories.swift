#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The directories that a download has created for its destination.
///
/// All calls can block, so they belong on a file thread.
struct DownloadDirectories {
    /// The created directories, the outermost first.
    private var made: [String] = []

    /// Creates a directory and its missing parents, with the permissions of new directories.
    mutating func make(_ path: String) throws(SystemError) {
        // Searches from the innermost directory outwards, because outer ones may not be readable.
        var missing: [String] = []
        var current = path
        while !Self.isThere(current), current != "/" {
            missing.append(current)
            let slash = current.utf8.lastIndex(of: UInt8(ascii: "/")) ?? current.startIndex
            current = slash == current.startIndex ? "/" : String(current[..<slash])
        }
        for directory in missing.reversed() {
            if mkdir(directory, 0o777) == 0 {
                made.append(directory)
            } else if errno != EEXIST {
                throw SystemError.last
            }
        }
    }

    /// Removes the created directories that are empty.
    mutating func removeEmpty() {
        for directory in made.reversed() { rmdir(directory) }
        made = []
    }

    /// Whether a path exists. If the check fails, it counts as existing, so that the later use reports the error.
    private static func isThere(_ path: String) -> Bool {
        do { _ = try FileStatus(of: path) } catch { return error.code != ENOENT }
        return true
    }
}
