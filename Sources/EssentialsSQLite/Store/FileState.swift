#if Persistence
    import EssentialsStorage

    /// The facts that show whether a file was changed.
    struct FileState: Equatable {
        private let status: FileStatus?

        init(_ path: String) { status = try? FileStatus(of: path) }

        /// The size; 0 if the file does not exist.
        var bytes: Int64 { status?.size ?? 0 }
    }
#endif
