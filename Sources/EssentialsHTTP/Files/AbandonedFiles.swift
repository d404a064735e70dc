#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds and removes files of downloads whose process was killed.
///
/// All calls can block, so they belong on a file thread.
enum AbandonedFiles {
    /// The maximum number of directory entries that are examined.
    static let maximumEntries = 10_000

    /// Removes the temporary files in a directory that no download writes to any more, and returns their names.
    ///
    /// - Parameter belongs: Whether a file name is one of those to remove.
    static func removeTemporaries(in directory: String, where belongs: (String) -> Bool) -> [String] {
        names(in: directory).filter { belongs($0) && removeIfAbandoned(path($0, in: directory)) }
    }

    /// Removes the partial files in a directory that could be resumed but have not been written to for some time, and
    /// returns their names.
    static func removeParts(in directory: String, untouchedFor age: Duration) -> [String] {
        let now = Date().timeIntervalSince1970
        let limit = Int64(exactly: (now - Double(age.components.seconds)).rounded()) ?? .min
        let names = names(in: directory)
        let validators = Set(names.filter { $0.hasSuffix(DownloadPlace.recordSuffix) })
        return names.filter { name in
            guard name.hasSuffix(DownloadPlace.partialSuffix),
                let status = try? FileStatus(of: path(name, in: directory)),
                status.modified.seconds <= limit
            else { return false }
            let record = name.dropLast(DownloadPlace.partialSuffix.utf8.count) + DownloadPlace.recordSuffix
            guard validators.contains(String(record)), removeIfAbandoned(path(name, in: directory)) else {
                return false
            }
            unlink(path(String(record), in: directory))
            return true
        }
    }

    /// Checks that a directory can be listed.
    static func checkReadable(_ directory: String) throws(SystemError) {
        guard let entries = opendir(directory) else { throw SystemError.last }
        closedir(entries)
    }

    private static func path(_ name: String, in directory: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// Removes a regular file of this user if no process has locked it.
    private static func removeIfAbandoned(_ path: String) -> Bool {
        guard let file = try? OpenFile(path, O_RDWR | O_NOFOLLOW), let status = try? file.status(), status.isRegular,
            status.owner == geteuid(), file.lock(otherwise: false),
            // Before the lock was acquired, the file may have been renamed to its final name.
            let named = try? FileStatus(of: path, followsLink: false), named.identity == status.identity
        else { return false }
        return unlink(path) == 0
    }

    private static func names(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        var count = 0
        while count < maximumEntries, let entry = readdir(entries) {
            count += 1
            // Read in place: an entry is only as long as its name, so copying the whole field would read past its end.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(DownloadPlace.partialSuffix) || name.hasSuffix(DownloadPlace.recordSuffix) {
                names.append(name)
            }
        }
        return names.sorted()
    }
}
