#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The directories that a download has made on the way to its destination.
///
/// All calls may block: they belong on a file thread.
struct DownloadDirectories {
    /// The outermost first.
    private var made: [String] = []

    /// Makes a directory and those above it that are missing, with the permissions of new directories.
    mutating func make(_ path: String) throws(SystemError) {
        // The outer ones that are missing, found from the inside out: what stands above them may not be ours to look at.
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

    /// Removes those that it has made and that are empty.
    mutating func removeEmpty() {
        for directory in made.reversed() { rmdir(directory) }
        made = []
    }

    /// Whether something is there, or cannot be asked for: then whoever uses it says why.
    private static func isThere(_ path: String) -> Bool {
        do { _ = try FileStatus(of: path) } catch { return error.code != ENOENT }
        return true
    }
}
