#if Persistence
    import EssentialsStorage

    /// What shows that a file was changed.
    struct FileState: Equatable {
        private let status: FileStatus?

        init(_ path: String) { status = try? FileStatus(of: path) }

        /// The size; 0 if there is no file.
        var bytes: Int64 { status?.size ?? 0 }
    }
#endif
