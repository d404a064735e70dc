#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import EssentialsTools

    /// The file that the connections of a store have opened.
    ///
    /// SQLite uses the file that it has opened, even if the path leads to another file later. Data saved then would be
    /// lost, and a new connection would read the other file.
    final class OpenedFile: Sendable {
        private let path: String
        private let first: FileStatus.Identity?

        /// Records the file at a path.
        init(_ path: String) {
            self.path = path
            first = Self.identity(path)
        }

        private static func identity(_ path: String) -> FileStatus.Identity? {
            (try? FileStatus(of: path))?.identity
        }

        /// Throws a failure with the reason `file` if the path no longer leads to the file. It takes about a
        /// microsecond.
        func check() throws(PersistenceFailure) {
            guard Self.identity(path) != first else { return }
            throw PersistenceFailure(
                .file, "The file of the store was moved, removed or replaced while the store was open.",
                remedy: "Put the file back, or close the service and open the store again.", store: path)
        }
    }
#endif
