extension FileDownload {
    /// Removes what downloads left in a directory when their program was killed, and gives the names of the files.
    ///
    /// A download removes the temporary files of its own destination by itself; this is for destinations that nobody
    /// downloads to any more, at an application's start. Files that a download writes to, in this process or another,
    /// stay, as do those of other users, and all where the file system has no locks. Of a directory at most 10,000
    /// entries are looked at.
    ///
    /// ```swift
    /// try await FileDownload.removeAbandoned(in: "/srv/films", partsUntouchedFor: .seconds(7 * 86_400))
    /// ```
    ///
    /// - Parameters:
    ///   - directory: The destinations' directory.
    ///   - age: How long a part that could be gone on with must not have been written to, to be removed with its record;
    ///     nil keeps these.
    /// - Throws: `file` when the directory is not there or cannot be read.
    @discardableResult
    public static func removeAbandoned(
        in directory: String, partsUntouchedFor age: Duration? = nil
    ) async throws(RequestFailure) -> [String] {
        try FileThreads.shared.start()
        let path = try AbsolutePath.of(directory)
        return try await Sweeper().sweep(path, age)
    }

    /// Works on a file thread.
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
