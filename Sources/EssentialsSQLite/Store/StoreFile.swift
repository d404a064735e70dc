#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import FoundationEssentials
    import Glibc

    /// The file of a store, before SQLite opens it.
    ///
    /// Afterwards the file must not be opened here: closing any of its descriptors would drop the locks of SQLite in
    /// this process.
    enum StoreFile {
        /// Creates the file with the mode 0600, unless it exists. The log and the shared memory inherit its mode.
        ///
        /// - Returns: Whether the file is new.
        static func create(_ path: String) throws(PersistenceFailure) -> Bool {
            do throws(FileError) {
                _ = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
                return true
            } catch {
                guard error.code == EEXIST else { throw failure(error, file: path, store: path) }
            }
            let status = try onFile(path, store: path) { () throws(FileError) in try FileStatus(of: path) }
            guard status.isRegular else {
                throw PersistenceFailure(.file, "The path of the store is no regular file.", store: path)
            }
            return false
        }

        /// Runs work on a file, and turns its error into a failure.
        static func onFile<Value>(
            _ file: String, store: String, _ work: () throws(FileError) -> Value
        ) throws(PersistenceFailure) -> Value {
            do { return try work() } catch { throw failure(error, file: file, store: store) }
        }

        static func failure(_ error: FileError, file: String, store: String) -> PersistenceFailure {
            failure(error.code, file: file, store: store)
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
    }
#endif
