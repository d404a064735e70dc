#if Persistence
    import Glibc

    /// What shows that a file was changed.
    struct FileState: Equatable {
        private let inode: UInt64
        private let seconds, nanoseconds: Int
        /// The size; 0 if there is no file.
        let bytes: Int64

        init(_ path: String) {
            var status = stat()
            let exists = stat(path, &status) == 0
            inode = exists ? UInt64(status.st_ino) : 0
            seconds = exists ? status.st_mtim.tv_sec : 0
            nanoseconds = exists ? status.st_mtim.tv_nsec : 0
            bytes = exists ? Int64(status.st_size) : 0
        }
    }
#endif
