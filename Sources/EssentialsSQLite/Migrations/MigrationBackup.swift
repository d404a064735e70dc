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
                makeNewest(part)
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
            let old = copies.filter { ![newest, "./\(newest)"].contains($0.path) }.sorted { $0.time > $1.time }
            for copy in old.dropFirst(Self.kept - 1) { unlink(copy.path) }
        }

        /// Gives a copy a time after that of all others, which may be the same if several migrations run at once, or if the
        /// clock was set back.
        private func makeNewest(_ part: String) {
            var status = stat()
            guard stat(part, &status) == 0, let last = copies.map(\.time).max(), last >= Time(status.st_mtim) else {
                return
            }
            let times = [status.st_atim, last.next]
            utimensat(AT_FDCWD, part, times, 0)
        }

        /// The time of a file's last change. Those of files that are written one after another may be equal.
        private struct Time: Comparable {
            let seconds, nanoseconds: Int

            init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }

            /// The next time that a file can have.
            var next: timespec {
                nanoseconds < 999_999_999
                    ? timespec(tv_sec: seconds, tv_nsec: nanoseconds + 1) : timespec(tv_sec: seconds + 1, tv_nsec: 0)
            }

            static func < (one: Time, other: Time) -> Bool {
                (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
            }
        }

        /// The copies beside the store.
        private var copies: [(time: Time, path: String)] {
            let slash = store.lastIndex(of: "/")
            let folder = slash.map { String(store[...$0]) } ?? "./"
            let prefix = (slash.map { String(store[store.index(after: $0)...]) } ?? store) + ".before-"
            guard let entries = opendir(folder) else { return [] }
            defer { closedir(entries) }
            var backups: [(time: Time, path: String)] = []
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                var status = stat()
                let path = folder + name
                guard name.hasPrefix(prefix), stat(path, &status) == 0 else { continue }
                backups.append((Time(status.st_mtim), path))
            }
            return backups
        }
    }
#endif
