#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import Glibc

    /// The file of a store, before SQLite opens it.
    ///
    /// Afterwards the file is left alone: closing any of its descriptors would drop the locks of SQLite in this process.
    enum StoreFile {
        /// Creates the file with the mode 0600, unless there is one. The log and the shared memory take its mode over.
        ///
        /// - Returns: Whether the file is new.
        static func create(_ path: String) throws(PersistenceFailure) -> Bool {
            let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor < 0 else {
                Glibc.close(descriptor)
                return true
            }
            guard errno == EEXIST else { throw failure(errno, file: path, store: path) }
            var status = stat()
            guard stat(path, &status) == 0 else { throw failure(errno, file: path, store: path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw PersistenceFailure(.file, "The path of the store is no regular file.", store: path)
            }
            return false
        }

        /// Why an open file cannot be the claim beside a store, which is overwritten; `nil` if it can.
        ///
        /// It is a regular file without a second name (hard link) that belongs to the user of the process or of the store.
        static func fault(ofClaim descriptor: Int32, store: String) -> String? {
            var (claim, file) = (stat(), stat())
            guard fstat(descriptor, &claim) == 0 else { return "cannot be examined" }
            guard claim.st_mode & S_IFMT == S_IFREG else { return "is no regular file" }
            guard claim.st_nlink <= 1 else { return "has a second name" }
            guard claim.st_uid == geteuid() || stat(store, &file) == 0 && file.st_uid == claim.st_uid else {
                return "belongs to another user"
            }
            return nil
        }

        /// The failure of a system call.
        static func failure(_ code: Int32, file: String, store: String) -> PersistenceFailure {
            let reason: PersistenceFailure.Reason =
                switch code {
                case EROFS, EACCES, EPERM: .readOnly
                case ENOSPC, EDQUOT: .full
                default: .file
                }
            return PersistenceFailure(
                reason, "\(file) cannot be opened: \(String(cString: strerror(code))).", store: store,
                underlying: systemError(code))
        }

        /// The number of a system call's error as an error; `nil` for a number that has no name.
        static func systemError(_ code: Int32) -> POSIXError? { POSIXErrorCode(rawValue: code).map { POSIXError($0) } }

        /// The number of bytes that are free for this user on the file system of a file; `nil` if that is not known.
        static func freeBytes(besides path: String) -> UInt64? {
            var status = statvfs()
            guard statvfs(path, &status) == 0 else { return nil }
            let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return bytes.overflow ? .max : bytes.partialValue
        }

        /// Writes a file and its name in the folder through to the disk.
        static func synchronize(_ path: String) -> Bool {
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
            return [path, folder].allSatisfy { name in
                let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { return false }
                defer { Glibc.close(descriptor) }
                return fsync(descriptor) == 0
            }
        }
    }
#endif
