#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// The time at which the read transaction of the current thread must end.
    ///
    /// SQLite checks it while a statement runs. So no timer is needed, and a read that ends in time has no extra cost.
    enum ReadLimit {
        /// The number of SQLite's virtual machine steps between two checks: less than a millisecond.
        private static let steps: Int32 = 10_000

        @TaskLocal private static var end: ContinuousClock.Instant?

        /// Runs a closure that must end within a time; `nil` lifts an outer limit.
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
