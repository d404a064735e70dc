#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// The time at which the read transaction of the current thread must end.
    ///
    /// SQLite asks for it while a statement runs, so no timer is needed and a read that keeps its time pays nothing.
    enum ReadLimit {
        /// The number of steps of SQLite's machine between two questions: less than a millisecond.
        private static let steps: Int32 = 10_000

        @TaskLocal private static var end: ContinuousClock.Instant?

        /// Runs a closure that must end within a time; `nil` lifts the limit of a closure around it.
        static func run<Result, Failure: Error>(
            _ limit: Duration?, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let outcome = $end.withValue(limit.map { .now + min(max($0, .zero), .seconds(1 << 32)) }) {
                Swift.Result<Result, Failure> { () throws(Failure) in try body() }
            }
            return try outcome.get()
        }

        /// Whether the time is over. `false` outside a limited closure.
        static var isOver: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

        static var failure: PersistenceFailure {
            PersistenceFailure(.expired, "The read has taken longer than a read of the store may.")
        }

        /// Makes a connection interrupt its statements when the time of their thread is over.
        static func watch(_ db: Database) {
            sqlite3_progress_handler(db.sqliteConnection, steps, { _ in ReadLimit.isOver ? 1 : 0 }, nil)
        }
    }
#endif
