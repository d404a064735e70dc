#if Persistence
    import EssentialsTools
    import GRDB
    import GRDBSQLite

    /// Counts the pages in the log since SQLite last restarted it, and decides when a checkpoint is worth its time.
    ///
    /// The size of the file does not show this: SQLite overwrites a copied log from its beginning, and keeps the size
    /// of the file.
    ///
    /// It is used by the thread that holds the writing connection.
    final class LogPages: Sendable {
        /// The number of pages that are copied together: 4 MiB with SQLite's usual page size.
        static let step = 1_024

        private let count = Atomic<Int>(0)
        /// The pages at the last checkpoint. Pages that readers kept from being copied then are copied one step later.
        private let copied = Atomic<Int>(0)

        /// Makes the writing connection report the pages after each commit. The connection must not commit after this
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

        /// Whether a checkpoint is worth its time now. If so, the next one is due after another step, or when the log
        /// has restarted and grown by a step.
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
