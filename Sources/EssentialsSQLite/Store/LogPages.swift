#if Persistence
    import EssentialsTools
    import GRDB
    import GRDBSQLite

    /// The number of pages in the log since SQLite began it anew, and when they are worth a checkpoint.
    ///
    /// The size of the file does not tell: a log that was copied is written again from its beginning, and stays as long as it
    /// was.
    ///
    /// It is used by the thread that holds the writing connection.
    final class LogPages: Sendable {
        /// As many pages as are copied together: 4 MiB, with SQLite's usual size of a page.
        static let step = 1_024

        private let count = Atomic<Int>(0)
        /// The pages at the last checkpoint. What readers have kept from being copied then is copied a step later.
        private let copied = Atomic<Int>(0)

        /// Makes the connection that writes report the pages after each commit. The connection must not commit after this
        /// object is released.
        func watch(_ db: Database) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_wal_hook(
                db.sqliteConnection,
                { context, _, _, pages in
                    // The context is the object that has set the hook.
                    if let context {
                        Unmanaged<LogPages>.fromOpaque(context).takeUnretainedValue().count.store(
                            Int(pages), ordering: .relaxed)
                    }
                    return SQLITE_OK
                }, context)
        }

        /// Whether a checkpoint is worth its time now. Then the next one is so after another step, or when the log has begun
        /// anew and has grown.
        func takeCheckpoint() -> Bool {
            let count = count.load(ordering: .relaxed)
            var last = copied.load(ordering: .relaxed)
            if count < last {
                last = 0
                copied.store(0, ordering: .relaxed)
            }
            guard count >= last + Self.step else { return false }
            copied.store(count, ordering: .relaxed)
            return true
        }
    }
#endif
