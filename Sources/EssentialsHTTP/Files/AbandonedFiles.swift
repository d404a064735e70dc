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

/// Files that downloads left when their program was killed.
///
/// All calls may block: they belong on a file thread.
enum AbandonedFiles {
    /// As many entries of a directory are looked at.
    static let maximumEntries = 10_000

    /// Removes the temporary files of a directory that nobody writes any more, and says which.
    ///
    /// - Parameter belongs: Whether the name of a file in the directory is one of those that are meant.
    static func removeTemporaries(in directory: String, where belongs: (String) -> Bool) -> [String] {
        names(in: directory).filter { belongs($0) && removeIfAbandoned(path($0, in: directory)) }
    }

    /// Removes the parts of a directory that could be gone on with and that nobody has written to for so long, and says
    /// which.
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

    /// Whether a directory can be looked through.
    static func checkReadable(_ directory: String) throws(SystemError) {
        guard let entries = opendir(directory) else { throw SystemError.last }
        closedir(entries)
    }

    private static func path(_ name: String, in directory: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// Removes a file of ours whose lock nobody has.
    private static func removeIfAbandoned(_ path: String) -> Bool {
        guard let file = try? OpenFile(path, O_RDWR | O_NOFOLLOW), let status = try? file.status(), status.isRegular,
            status.owner == geteuid(), file.lock(otherwise: false),
            // While the lock was waited for, the file could have got its final name.
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
            // In place: a record is as long as its name, and a copy of the whole field would read beyond it.
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
