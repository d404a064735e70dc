#if Persistence
    package import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB

    /// Copies a store into another file, with SQLite's online backup.
    ///
    /// The copy is one state of the store, and can be made while a process owns and changes the store. The copy has the
    /// mode 0600. It is flushed to the disk before it gets its name.
    package struct StoreBackup: Sendable {
        let inspection: StoreInspection
        /// The path of the copy.
        package let target: String
        /// The temporary file, which is written first. It is removed if the copy fails.
        package let temporary: String

        /// - Parameters:
        ///   - inspection: The store.
        ///   - target: The path of the copy.
        package init(of inspection: StoreInspection, to target: String) {
            self.inspection = inspection
            self.target = target
            temporary = "\(target).partial-\(getpid())"
        }

        /// Makes the copy.
        ///
        /// - Parameter overwrites: Whether an existing file of that name is replaced.
        /// - Returns: The number of bytes of the copy.
        /// - Throws: A failure with the reason `file` if the target exists or cannot be written, `busy` if it is a
        ///   store in use, and `full` if there is no space.
        package func make(overwriting overwrites: Bool) throws(PersistenceFailure) -> Int64 {
            try checkTarget(overwriting: overwrites)
            try write()
            let isInPlace = try onFile(target) { () throws(FileError) in
                try AtomicFile.place(temporary, at: target, replaces: overwrites)
            }
            guard isInPlace else { throw existing }
            return FileState(target).bytes
        }

        private func checkTarget(overwriting overwrites: Bool) throws(PersistenceFailure) {
            if let resolved = StorePath.real(target) {
                guard resolved != inspection.path else {
                    throw failure(.file, "The copy would replace the store itself.", remedy: "Give another name.")
                }
                guard overwrites else { throw existing }
            }
            if StoreOwnership(file: target + "-owner")?.holdsStore == true {
                throw failure(.busy, "A process owns the store \(target).", remedy: "Give another name.")
            }
            // SQLite would replay a log that belongs to another file.
            guard FileState(target + "-wal").bytes == 0, FileState(target + "-journal").bytes == 0 else {
                throw failure(
                    .file, "The file \(target) has a log.",
                    remedy: "Give another name, or use “essentials store restore”.")
            }
        }

        private var existing: PersistenceFailure {
            failure(.file, "The file \(target) exists.", remedy: "Give another name, or replace it with --force.")
        }

        /// Writes the temporary file and flushes it to the disk.
        func write() throws(PersistenceFailure) {
            abandon()
            guard try StoreFile.create(temporary) else {
                throw failure(.file, "The file \(temporary) is in the way.", remedy: "Remove it.")
            }
            do {
                let bytes = try inspection.read(limit: nil) { db in
                    let row = try Row.fetchOne(
                        db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                    return row?.integer(0) ?? 0
                }
                if let free = FileCalls.freeBytes(besides: temporary), free < bytes {
                    throw failure(
                        .full, "The copy needs \(bytes) bytes; \(free) are free.", remedy: "Free some space.")
                }
                try inspection.read(limit: nil) { db in try copy(db) }
                try onFile(temporary) { () throws(FileError) in
                    try FileCalls.system.flush(OpenFile(temporary, O_RDONLY))
                }
            } catch {
                abandon()
                throw PersistenceFailure(database: error, store: inspection.givenPath)
            }
        }

        private func copy(_ db: Database) throws {
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                // An incomplete copy is removed, so it needs no journal.
                try db.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
            }
            let copy = try DatabaseQueue(path: temporary, configuration: configuration)
            defer { try? copy.close() }
            try copy.writeWithoutTransaction { try db.backup(to: $0) }
        }

        /// Removes the temporary file.
        func abandon() { try? FileCalls.system.remove(temporary) }

        private func onFile<Value>(
            _ file: String, _ work: () throws(FileError) -> Value
        ) throws(PersistenceFailure) -> Value {
            try StoreFile.onFile(file, store: inspection.givenPath, work)
        }

        private func failure(
            _ reason: PersistenceFailure.Reason, _ message: String, remedy: String
        ) -> PersistenceFailure {
            PersistenceFailure(reason, message, remedy: remedy, store: inspection.givenPath)
        }
    }
#endif
