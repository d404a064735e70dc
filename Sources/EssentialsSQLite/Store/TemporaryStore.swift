#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import EssentialsTools
    import Glibc

    /// The private folder of a temporary store, which is removed with the store.
    ///
    /// Its name contains the number of the process, so that the folder can be found if the process ends without
    /// removing it.
    final class TemporaryStore: Sendable {
        private static let prefix = "service-essentials-store-"
        private static let file = "store.sqlite"

        private let path: String
        private let process = getpid()
        private let isRemoved = Mutex(false)

        /// The folder of the store at this path, which belongs to the caller.
        init(store path: String) { self.path = Self.folder(path) }

        deinit { remove() }

        /// Removes the folder with all files. Repeated calls and calls of a forked process do nothing.
        func remove() {
            let isFirst = isRemoved.withLock { isRemoved in
                defer { isRemoved = true }
                return !isRemoved
            }
            if isFirst, process == getpid() { Self.remove(path) }
        }

        // MARK: Folders

        /// The path of a new store: in memory if the system has a file system for that.
        static func newPath() -> String {
            "\(root)/\(prefix)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))/\(file)"
        }

        private static var root: String {
            if isFolder("/dev/shm"), access("/dev/shm", W_OK | X_OK) == 0 { return "/dev/shm" }
            guard let path = getenv("TMPDIR").flatMap({ StorePath.real(String(cString: $0)) }), isFolder(path) else {
                return "/tmp"
            }
            return path
        }

        private static func isFolder(_ path: String) -> Bool {
            (try? FileStatus(of: path, followsLink: false))?.isDirectory == true
        }

        /// Whether the path is a folder of this user.
        private static func isOwnFolder(_ path: String) -> Bool {
            guard let status = try? FileStatus(of: path, followsLink: false) else { return false }
            return status.isDirectory && status.owner == geteuid()
        }

        private static func folder(_ store: String) -> String { String(store.dropLast(file.count + 1)) }

        /// Creates the folder of a store, and removes folders of processes that have ended.
        ///
        /// - Throws: A failure with the reason `full`, `readOnly` or `file`.
        static func makeFolder(of store: String) throws(PersistenceFailure) {
            let folder = folder(store)
            sweep(String(folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)))
            if mkdir(folder, 0o700) == 0 { return }
            let code = errno
            // The store is open already; its owner will report that.
            if code == EEXIST, isOwnFolder(folder) { return }
            throw StoreFile.failure(code, file: folder, store: store)
        }

        /// Removes the folders of processes of this user that have ended.
        static func sweep(_ root: String) {
            for name in entries(root) where name.hasPrefix(prefix) {
                guard let process = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }), process > 0,
                    kill(process, 0) != 0, errno == ESRCH
                else { continue }
                let folder = "\(root)/\(name)"
                // The number of a process in another container means nothing here, but such a process holds its lock.
                if isFree(folder) { remove(folder) }
            }
        }

        /// Whether a folder belongs to this user, and no process holds its store.
        private static func isFree(_ folder: String) -> Bool {
            guard isOwnFolder(folder) else { return false }
            do throws(FileError) {
                return try OpenFile("\(folder)/\(file)-owner", O_RDWR | O_NOFOLLOW).lock(withoutLocks: false)
            } catch {
                return error.isMissing
            }
        }

        private static func remove(_ folder: String) {
            for name in entries(folder) { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }

        private static func entries(_ folder: String) -> [String] {
            (try? DirectoryNames.read(folder, followsLink: false)) ?? []
        }
    }
#endif
