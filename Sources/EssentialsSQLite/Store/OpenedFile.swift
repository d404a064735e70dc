#if Persistence
    import EssentialsPersistence
    import Glibc
    import Synchronization

    /// The file that the connections of a store have opened.
    ///
    /// SQLite reads and writes the file that it has opened, wherever its path leads meanwhile. What is saved then would be
    /// lost, and a new connection would read another file.
    final class OpenedFile: Sendable {
        private struct Identity: Equatable {
            let device, inode: UInt64

            /// `nil` if there is no file.
            init?(_ path: String) {
                var status = stat()
                guard stat(path, &status) == 0 else { return nil }
                (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
            }
        }

        private let path: String
        private let first: Identity?

        /// Takes the file that is at a path now.
        init(_ path: String) {
            self.path = path
            first = Identity(path)
        }

        /// Throws a failure with the reason `file` if the path does not lead to the file any more. It takes about a
        /// microsecond.
        func check() throws(PersistenceFailure) {
            guard Identity(path) != first else { return }
            throw PersistenceFailure(
                .file, "The file of the store was moved, removed or replaced while the store was open.",
                remedy: "Put the file back, or close the service and open the store again.", store: path)
        }
    }
#endif
