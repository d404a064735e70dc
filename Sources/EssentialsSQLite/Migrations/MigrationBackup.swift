#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB

    /// A copy of a store that is made before its tables are changed.
    struct MigrationBackup {
        /// The number of backups that are kept.
        static let kept = 2

        let store: String

        /// Copies the store to `path.before-NAME` with the mode 0600, flushed to the disk, and removes the oldest of
        /// more than two backups.
        ///
        /// - Throws: A failure with the reason `full` if there is too little space, or the failure of the copy.
        func make(of reader: some DatabaseReader, before migration: String) throws -> String {
            let path = "\(store).before-\(Self.fileName(migration))"
            let size = try reader.read { db in
                try Int64.fetchOne(
                    db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
            }
            if let free = FileCalls.freeBytes(besides: store), free < size {
                throw PersistenceFailure(
                    .full, "The backup before the migration \(migration) needs \(size) bytes; \(free) are free.",
                    store: store)
            }
            // If the process is killed here, no file is left that looks like a backup.
            let part = "\(store).unfinished"
            removePart(part)
            guard try StoreFile.create(part) else {
                throw PersistenceFailure(.file, "The file \(part) exists and cannot be replaced.", store: store)
            }
            do {
                let copy = try DatabaseQueue(path: part)
                try reader.backup(to: copy)
                try copy.close()
                makeNewest(part)
                // A backup of an earlier attempt is replaced.
                _ = try StoreFile.onFile(path, store: store) { () throws(FileError) in
                    try AtomicFile.place(part, at: path)
                }
            } catch {
                removePart(part)
                throw error
            }
            removeOld(except: path)
            return path
        }

        /// Removes an incomplete copy, with the journal by which SQLite would roll it back.
        private func removePart(_ part: String) {
            for suffix in ["", "-journal"] { try? FileCalls.system.remove(part + suffix) }
        }

        /// A migration's name as a part of a file name.
        static func fileName(_ migration: String) -> String {
            let allowed = migration.utf8.prefix(100).map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    byte
                default: UInt8(ascii: "-")
                }
            }
            return String(decoding: allowed, as: UTF8.self)
        }

        private func removeOld(except newest: String) {
            let name = StorePath.parts(of: newest).name
            let old = copies.filter { $0.name != name }.sorted { $1.time.isBefore($0.time) }
            for copy in old.dropFirst(Self.kept - 1) { try? folder.remove(copy.name) }
        }

        /// Gives a copy a later time than all others. The times may be equal if several migrations run at once, or if
        /// the clock was set back.
        private func makeNewest(_ part: String) {
            guard let time = (try? FileStatus(of: part))?.modified,
                let last = copies.map(\.time).max(by: { $0.isBefore($1) }), !last.isBefore(time)
            else { return }
            let next =
                last.nanoseconds < 999_999_999
                ? timespec(tv_sec: Int(last.seconds), tv_nsec: Int(last.nanoseconds) + 1)
                : timespec(tv_sec: Int(last.seconds) + 1, tv_nsec: 0)
            utimensat(AT_FDCWD, part, [next, next], 0)
        }

        private var folder: FileDirectory { FileDirectory(absolute: StorePath.parts(of: store).folder) }

        /// The copies beside the store.
        private var copies: [(time: FileStatus.Moment, name: String)] {
            let prefix = StorePath.parts(of: store).name + ".before-"
            let folder = folder
            let names = try? DirectoryNames.read(folder.path) { $0.hasPrefix(prefix) }
            return (names ?? []).compactMap { name in
                (try? FileStatus(of: folder.path(of: name))).map { ($0.modified, name) }
            }
        }
    }
#endif
