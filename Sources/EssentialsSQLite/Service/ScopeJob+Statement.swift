#if Persistence
    import EssentialsPersistence
    import GRDB

    extension ScopeJob {
        /// Changes the rows of a query by one statement, without loading them.
        ///
        /// This requires that the call saves to the store, and that no pending rows would be saved too.
        ///
        /// - Returns: `nil` if the rows must be loaded, for example to name those that violate a constraint. Then
        ///   nothing is changed.
        func executeStatement(_ level: SaveLevel, _ store: OpenStore) throws(PersistenceFailure) -> SaveReport? {
            guard let statement = job.plan.statement, level == .store || level == .parent && chain.count == 1,
                !isAnythingPending, let execution = try StatementExecution(statement, store)
            else { return nil }
            return try withTurns(of: chain.dropLast()) { () throws(PersistenceFailure) in
                // Others may have changed a scope above before this call took its turn.
                guard !isAnythingPending else { return nil }
                try job.begin()
                do throws(PersistenceFailure) {
                    return try execute(execution, store)
                } catch  where [.constraint, .invalidModel, .limit].contains(error.reason) {
                    // SQLite limits the depth of a cascade of one statement. A save deletes from the end of a chain
                    // instead.
                    return nil
                }
            }
        }

        private var isAnythingPending: Bool { chain.contains { $0.isPending(in: nil) } }

        private func execute(
            _ execution: StatementExecution, _ store: OpenStore
        ) throws(PersistenceFailure) -> SaveReport {
            let (report, keys) = try store.database.write { db in
                try interruptible(db) { try execution.run(db) }
            } committing: { commit in
                guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
                try commit()
            }
            // The rows that the store has changed by itself are unknown.
            announce(in: nil) { report.cascaded > 0 ? nil : keys }
            return report
        }
    }
#endif
