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

extension DownloadedFile {
    /// Removes the files that downloads left in a directory when their process was killed, and returns the names of the
    /// removed files.
    ///
    /// A download removes the temporary files of its own destination. Call this at an application's start for
    /// destinations that are not downloaded to any more. It keeps the files that a running download of any process
    /// writes to, the files of other users, and all files if the file system has no locks. It examines at most 10,000
    /// entries of the directory.
    ///
    /// ```swift
    /// try await DownloadedFile.removeAbandoned(in: "/srv/films", partsUntouchedFor: .seconds(7 * 86_400))
    /// ```
    ///
    /// - Parameters:
    ///   - directory: The directory of the destinations.
    ///   - age: The minimum time since a resumable partial file was last written to, after which it is removed together
    ///     with its record. `nil` keeps these files.
    /// - Throws: `file` if the directory does not exist or cannot be read.
    @discardableResult
    public static func removeAbandoned(
        in directory: String, partsUntouchedFor age: Duration? = nil
    ) async throws(RequestFailure) -> [String] {
        try FileThreads.shared.start()
        let path = try AbsolutePath.of(directory)
        return try await Sweeper().sweep(path, age)
    }

    /// Runs on a file thread.
    private actor Sweeper {
        private let queue = FileQueue()

        nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

        func sweep(_ directory: String, _ age: Duration?) throws(RequestFailure) -> [String] {
            try RequestFailure.onFile(directory, "cannot be read", phase: .preparation) { () throws(SystemError) in
                try AbandonedFiles.checkReadable(directory)
            }
            var removed = AbandonedFiles.removeTemporaries(in: directory, where: DownloadPlace.isTemporary)
            if let age { removed += AbandonedFiles.removeParts(in: directory, untouchedFor: age) }
            return removed
        }
    }
}

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
        let limit = Int64(exactly: (now - Double(age.bounded.components.seconds)).rounded()) ?? .min
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
    static func removeIfAbandoned(_ path: String) -> Bool {
        // A file that replaces a read-only one is read-only too.
        guard let (file, status) = (try? OwnFile.open(path, O_RDWR, [])) ?? (try? OwnFile.open(path, O_RDONLY, [])),
            file.lock(otherwise: false),
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
