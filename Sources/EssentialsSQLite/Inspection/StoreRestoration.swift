#if Persistence
    package import EssentialsPersistence
    import EssentialsStorage
    import FoundationEssentials
    import Glibc

    /// Replaces a store by a backup, while no process owns the store.
    package struct StoreRestoration: Sendable {
        /// The part between the name of a store and the time in the name of a replaced file.
        static let keptMark = ".replaced-"

        let path: String
        let backup: StoreInspection
        private let copy: StoreBackup

        /// The temporary file, which is written first. It is removed if the restoration fails.
        package var temporary: String { copy.temporary }

        /// - Parameters:
        ///   - path: The path of the store. The file need not exist.
        ///   - backup: The backup.
        package init(of path: String, from backup: StoreInspection) {
            self.path = path
            self.backup = backup
            copy = StoreBackup(of: backup, to: path)
        }

        /// Checks the backup, claims the store as an owner does, keeps its present file under another name, and puts a
        /// copy of the backup in its place.
        ///
        /// The present log moves with the present file. If the process is killed meanwhile, the path of the store leads
        /// to the present file or to the backup, and the kept file is complete.
        ///
        /// - Returns: The path of the kept file; `nil` if the store had no file.
        /// - Throws: A failure with the reason `busy` if a process owns the store, `corrupt` if the backup is damaged,
        ///   and `file` or `full` if a file cannot be written.
        package func run() throws(PersistenceFailure) -> String? {
            try checkFile()
            let owner = try StoreOwner(store: path)
            defer { owner.release() }
            let damage = try backup.findings().damage
            if let first = damage.first {
                throw PersistenceFailure(
                    .corrupt, "The backup \(backup.givenPath) is damaged: \(first)",
                    remedy: "Restore another backup.", store: path)
            }
            try copy.write()
            do throws(PersistenceFailure) {
                giveAway()
                let kept = try keep()
                _ = try onFile(path) { () throws(FileError) in try AtomicFile.place(temporary, at: path) }
                return kept
            } catch {
                copy.abandon()
                throw error
            }
        }

        private func checkFile() throws(PersistenceFailure) {
            let status: FileStatus
            do { status = try FileStatus(of: path, followsLink: false) } catch {
                if error.isMissing { return }
                throw StoreFile.failure(error, file: path, store: path)
            }
            guard status.isRegular else {
                throw PersistenceFailure(
                    .file, "The file is not a regular one.", remedy: "Give the path of the store's own file.",
                    store: path)
            }
            let resolved = try StoreInspection(path: path).path
            guard resolved != backup.path else {
                throw PersistenceFailure(
                    .file, "The backup is the store itself.", remedy: "Give the path of a backup.", store: path)
            }
        }

        /// If root has created the files, gives them to the owner of the present file, or of the folder if no file
        /// exists. Otherwise that user could not open the store.
        private func giveAway() {
            var status = stat()
            let folder = StorePath.parts(of: path).folder
            guard geteuid() == 0, stat(path, &status) == 0 || stat(folder, &status) == 0 else { return }
            for file in [temporary, path + "-owner"] { _ = lchown(file, status.st_uid, status.st_gid) }
        }

        /// Gives the present file a second name, and moves its log there.
        private func keep() throws(PersistenceFailure) -> String? {
            let time = Date.now.formatted(.iso8601).filter { !"-:".contains($0) }
            let isThere = access(path, F_OK) == 0
            let calls = FileCalls.system
            for number in 1...100 {
                let kept = path + Self.keptMark + time + (number == 1 ? "" : "-\(number)")
                guard access(kept, F_OK) != 0, access(kept + "-wal", F_OK) != 0 else { continue }
                if isThere {
                    let code = calls.link(path, kept)
                    if code == EEXIST { continue }
                    try onFile(kept) { () throws(FileError) in if code != 0 { throw FileError(code: code) } }
                }
                // The log must be moved before the file is replaced. Otherwise SQLite would replay it onto the backup.
                for ending in ["-wal", "-journal"] where access(path + ending, F_OK) == 0 {
                    try onFile(path + ending) { () throws(FileError) in try calls.rename(path + ending, kept + ending) }
                }
                try? calls.remove(path + "-shm")
                return isThere ? kept : nil
            }
            throw PersistenceFailure(
                .file, "There are 100 files \(path)\(Self.keptMark)\(time).", remedy: "Move them away.", store: path)
        }

        private func onFile<Value>(
            _ file: String, _ work: () throws(FileError) -> Value
        ) throws(PersistenceFailure) -> Value {
            try StoreFile.onFile(file, store: path, work)
        }
    }
#endif
