#if Persistence
    import EssentialsPersistence
    import Glibc
    import GRDB

    /// A copy of a store that is made before its tables are changed.
    struct MigrationBackup {
        /// The number of backups that are kept.
        static let kept = 2

        let store: String

        /// Copies the store to `path.before-NAME` with the mode 0600, written through to the disk, and removes the oldest
        /// of more than two backups.
        ///
        /// - Throws: A failure with the reason `full` if there is too little space, or the failure of the copy.
        func make(of reader: some DatabaseReader, before migration: String) throws -> String {
            let path = "\(store).before-\(Self.fileName(migration))"
            let size = try reader.read { db in
                try Int64.fetchOne(
                    db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
            }
            if let free = StoreFile.freeBytes(besides: store), free < UInt64(max(size, 0)) {
                throw PersistenceFailure(
                    .full, "The backup before the migration \(migration) needs \(size) bytes; \(free) are free.",
                    store: store)
            }
            // A process that is killed here leaves no file that looks like a backup.
            let part = "\(store).unfinished"
            removePart(part)
            guard try StoreFile.create(part) else {
                throw PersistenceFailure(.file, "The file \(part) exists and cannot be replaced.", store: store)
            }
            do {
                let copy = try DatabaseQueue(path: part)
                try reader.backup(to: copy)
                try copy.close()
                // A backup of an earlier attempt is replaced.
                guard StoreFile.synchronize(part), rename(part, path) == 0, StoreFile.synchronize(path) else {
                    throw StoreFile.failure(errno, file: path, store: store)
                }
            } catch {
                removePart(part)
                throw error
            }
            removeOld(except: path)
            return path
        }

        /// Removes a copy that was begun, with the journal by which SQLite would take it back.
        private func removePart(_ part: String) {
            for suffix in ["", "-journal"] { unlink(part + suffix) }
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
            let slash = store.lastIndex(of: "/")
            let folder = slash.map { String(store[...$0]) } ?? "./"
            let prefix = (slash.map { String(store[store.index(after: $0)...]) } ?? store) + ".before-"
            guard let entries = opendir(folder) else { return }
            defer { closedir(entries) }
            var backups: [(time: Int, path: String)] = []
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                var status = stat()
                let path = folder + name
                guard name.hasPrefix(prefix), path != newest, folder != "./" || name != newest,
                    stat(path, &status) == 0
                else { continue }
                backups.append((status.st_mtim.tv_sec, path))
            }
            for backup in backups.sorted(by: { $0.time > $1.time }).dropFirst(Self.kept - 1) { unlink(backup.path) }
        }
    }
#endif
