import EssentialsStorage
import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
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
            try RequestFailure.onFile(directory, "cannot be read", phase: .preparation) { () throws(FileError) in
                try AbandonedFiles.checkReadable(directory)
            }
            var removed = AbandonedFiles.remove(in: directory, where: FilePlace.isTemporary)
            if let age { removed += AbandonedFiles.removeParts(in: directory, untouchedFor: age) }
            return removed
        }
    }
}

extension AbandonedFiles {
    /// Removes the partial files in a directory that could be resumed but have not been written to for some time, and
    /// returns their names.
    static func removeParts(in directory: String, untouchedFor age: Duration) -> [String] {
        let now = Date().timeIntervalSince1970
        let limit = Int64(exactly: (now - Double(age.bounded.components.seconds)).rounded()) ?? .min
        let names = names(in: directory) {
            $0.hasSuffix(DownloadPlace.partialSuffix) || $0.hasSuffix(DownloadPlace.recordSuffix)
        }
        let validators = Set(names.filter { $0.hasSuffix(DownloadPlace.recordSuffix) })
        let place = FileDirectory(absolute: directory)
        return names.filter { name in
            guard name.hasSuffix(DownloadPlace.partialSuffix),
                let status = try? FileStatus(of: place.path(of: name)), status.modified.seconds <= limit
            else { return false }
            let record = name.dropLast(DownloadPlace.partialSuffix.utf8.count) + DownloadPlace.recordSuffix
            guard validators.contains(String(record)), removeIfAbandoned(place.path(of: name)) else { return false }
            try? place.remove(String(record))
            return true
        }
    }
}
