#if Persistence
    package import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB

    /// The file of a store, opened for reading, whether or not a process owns it.
    ///
    /// ```swift
    /// let inspection = try StoreInspection(path: "/var/lib/shop/shop.sqlite")
    /// for table in try inspection.information().tables { print(table.name, table.rows ?? 0) }
    /// ```
    ///
    /// Inspection changes nothing, and takes no lock that a writer waits for. If the file is at rest, no other file is
    /// created beside it. If a process has the file open, or a log is left, SQLite may create its shared memory beside
    /// the log.
    ///
    /// The file is untrusted: each read has a time limit, and every list has a limit. Calls block.
    package struct StoreInspection: Sendable {
        /// The number of attempts to read if the file changes during a read.
        private static let attempts = 3
        /// The longest time of a read that has a limit.
        package static let timeLimit = Duration.seconds(30)

        /// The path of the file, after symbolic links.
        package let path: String
        /// The path before links were resolved.
        let givenPath: String

        /// Finds the file without opening it.
        ///
        /// - Throws: A failure with the reason `file` if the file does not exist or cannot be read.
        package init(path: String) throws(PersistenceFailure) {
            givenPath = path
            guard let resolved = StorePath.real(path) else { throw Self.failure(errno, path) }
            self.path = resolved
            let status: FileStatus
            do { status = try FileStatus(of: resolved) } catch { throw Self.failure(error.code, path) }
            guard status.isRegular else {
                throw PersistenceFailure(
                    .file, "The file is not a regular one.", remedy: "Give the file of the store, not its folder.",
                    store: path)
            }
            guard access(self.path, R_OK) == 0 else { throw Self.failure(errno, path) }
        }

        private static func failure(_ code: Int32, _ path: String) -> PersistenceFailure {
            let remedy =
                switch code {
                case ENOENT, ENOTDIR: "Check the path."
                case EACCES: "Run the command as the user that owns the store."
                default: "Check the path and the disk."
                }
            return PersistenceFailure(
                .file, "The file could not be opened: \(String(cString: strerror(code))).", remedy: remedy, store: path,
                underlying: StoreFile.systemError(code))
        }

        /// Reads one state of the file.
        ///
        /// - Parameter limit: The longest time; `nil` means no limit.
        /// - Throws: A failure with the reason `expired` if the read takes too long, `busy` if the file keeps changing,
        ///   and others for damage.
        func read<Result>(
            limit: Duration? = timeLimit, _ body: (Database) throws -> Result
        ) throws(PersistenceFailure) -> Result {
            for _ in 1..<Self.attempts {
                let before = FileState(path)
                guard isAtRest else { break }
                // Without locks, a program that begins to write can only be noticed by the state of the file.
                let result = Swift.Result { () throws(PersistenceFailure) in try open("immutable=1", limit, body) }
                if isAtRest, FileState(path) == before { return try result.get() }
            }
            return try open("mode=ro", limit, body)
        }

        /// Whether the file is at rest: no process owns it, and no log or journal is left to be copied into it.
        private var isAtRest: Bool {
            owner?.holdsStore != true && FileState(path + "-wal").bytes == 0 && FileState(path + "-journal").bytes == 0
        }

        private func open<Result>(
            _ parameter: String, _ limit: Duration?, _ body: (Database) throws -> Result
        ) throws(PersistenceFailure) -> Result {
            var configuration = Configuration()
            configuration.label = "ServiceEssentials.inspection"
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            configuration.prepareDatabase { db in
                // The schema of the file is untrusted.
                try db.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
                ReadLimit.watch(db)
            }
            do {
                let queue = try DatabaseQueue(path: ReadOnlyStore.uri(path, parameter), configuration: configuration)
                defer { try? queue.close() }
                return try queue.read { db in
                    try ReadLimit.run(limit) { () throws in
                        do {
                            return try body(db)
                        } catch {
                            throw ReadLimit.isOver ? ReadLimit.failure : error
                        }
                    }
                }
            } catch {
                throw failure(error)
            }
        }

        private func failure(_ error: any Error) -> PersistenceFailure {
            if (error as? DatabaseError)?.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
                return PersistenceFailure(database: error, store: givenPath)
            }
            return switch (error as? DatabaseError)?.resultCode {
            case .SQLITE_NOTADB:
                PersistenceFailure(
                    .corrupt, "The file is not a database of SQLite, or it is encrypted.", remedy: "Check the path.",
                    store: givenPath, underlying: error)
            case .SQLITE_CANTOPEN, .SQLITE_READONLY:
                PersistenceFailure(
                    .file, "SQLite cannot open the file beside its log.",
                    remedy: "Copy the file and its -wal to a folder that you can write, and inspect the copy.",
                    store: givenPath, underlying: error)
            case .SQLITE_CORRUPT:
                PersistenceFailure(
                    .corrupt, "The file is damaged: \((error as? DatabaseError)?.message ?? "no text").",
                    remedy: "See “essentials store check”, and restore a backup.", store: givenPath, underlying: error)
            default: PersistenceFailure(database: error, store: givenPath)
            }
        }
    }

    extension Row {
        /// The value as a text, whatever its type in the file; `nil` for NULL.
        func text(_ index: Int) -> String? {
            let value: DatabaseValue = self[index]
            return switch value.storage {
            case .null: nil
            case .int64(let value): "\(value)"
            case .double(let value): "\(value)"
            case .string(let value): value
            case .blob(let value): String(decoding: value, as: UTF8.self)
            }
        }

        /// The value if it is an integer.
        func integer(_ index: Int) -> Int64? {
            let value: DatabaseValue = self[index]
            guard case .int64(let integer) = value.storage else { return nil }
            return integer
        }
    }
#endif
