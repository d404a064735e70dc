extension FileDownload {
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
