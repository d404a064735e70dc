#if Persistence
    public import EssentialsPersistence
    import Dispatch

    /// A persistence service over an SQLite file, or a scope of the service.
    ///
    /// ```swift
    /// try app.registerLazy((any PersistenceService).self) { _ in
    ///     SQLitePersistenceService(
    ///         SQLiteStore(path: "/var/lib/shop/shop.sqlite", models: [Film.self, Studio.self]),
    ///         migrations: [
    ///             Migration("1 films", sql: "CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL) STRICT"),
    ///         ])
    /// }
    /// ```
    ///
    /// The store is opened in the background. A service that is released without ``close()`` drops its pending rows;
    /// the store is closed when the last scope is released.
    public final class SQLitePersistenceService: PersistenceService {
        /// The path of the store, and the names of the scopes down to this one.
        public let name: String
        let core: StoreCore
        /// The levels from the root scope to this one.
        let chain: [ScopeLevel]
        /// The scope above, which lives as long as this one.
        private let parent: SQLitePersistenceService?
        let resolution: ConflictResolution?
        let limits: OverlayLimits

        /// Creates a service, and opens its store in the background.
        ///
        /// - Parameters:
        ///   - store: The file and the models.
        ///   - migrations: The steps that lead to the present tables. Missing steps run when the store opens.
        ///   - resolution: The resolution of conflicts for saves without one. `nil` means the policy of each model.
        public init(_ store: SQLiteStore, migrations: [Migration], resolving resolution: ConflictResolution? = nil) {
            core = StoreCore(store, migrations: migrations)
            name = core.store.path
            limits = core.store.limits
            chain = [ScopeLevel(name, limits: limits)]
            parent = nil
            self.resolution = resolution
            core.open()
        }

        private init(_ parent: SQLitePersistenceService, _ name: String, _ resolution: ConflictResolution?) {
            self.name = "\(parent.name) \(name)"
            core = parent.core
            limits = parent.limits
            chain = parent.chain + [ScopeLevel(name, limits: limits)]
            self.parent = parent
            self.resolution = resolution ?? parent.resolution
        }

        deinit { end {} }

        /// The level of this scope.
        var level: ScopeLevel { chain[chain.count - 1] }

        /// The size of the store's log in bytes; 0 without one.
        package var logBytes: Int64 { FileState(core.store.path + "-wal").bytes }

        /// Whether the store can be used, or the scope is closed.
        public var state: PersistenceState {
            !core.process.isCurrent || chain.contains { $0.isClosed } ? .closed : core.state
        }

        /// Runs a job: a blocking one on the calling thread, others on threads of the store, never on the cooperative
        /// pool.
        public func run(_ job: PersistenceJob) {
            guard core.process.isCurrent else {
                return job.finish(.failure(OwnerProcess.failure(store: core.store.path)))
            }
            if job.plan.isBlocking {
                // A call inside a closure of the same store would wait for itself.
                if let store = try? core.openStore(), store.database.isRunningHere {
                    return job.finish(
                        .failure(
                            PersistenceFailure(
                                .reentrant, "The call is made inside a closure that runs on the store's connection.",
                                store: core.store.path)))
                }
                return ScopeJob(job, self).execute()
            }
            core.submit(job) { [self] in ScopeJob(job, self).execute() }
        }

        /// A scope within this one. Scopes can be nested 16 deep.
        public func child(
            _ name: String, resolving resolution: ConflictResolution?
        ) throws(PersistenceFailure) -> any PersistenceService {
            guard state != .closed else {
                throw PersistenceFailure(.closed, "The scope is closed.", store: core.store.path)
            }
            guard chain.count < limits.depth else {
                throw PersistenceFailure(
                    .limit, "A scope is at most \(limits.depth) levels deep.",
                    remedy: "Save to a parent scope instead.",
                    store: core.store.path)
            }
            return SQLitePersistenceService(self, name, resolution)
        }

        /// Calls a closure after each change that the scope sees, on a serial queue of the store.
        public func observeChanges(
            _ observer: @escaping @Sendable (PersistenceChange) -> Void
        ) throws(PersistenceFailure) -> PersistenceObservation {
            guard state != .closed else {
                throw PersistenceFailure(.closed, "The scope is closed.", store: core.store.path)
            }
            return core.observe(scopes: Set(chain.map(\.number)), observer)
        }

        /// Tries again to open a store that failed to open, after its cause was removed. Does nothing in other states.
        public func reopen() { if core.process.isCurrent { core.reopen() } }

        /// Calls a closure with each state of the scope, on a serial queue of the store.
        public func observeState(
            _ observer: @escaping @Sendable (PersistenceState) -> Void
        ) -> PersistenceObservation {
            core.observeState(of: chain, observer)
        }

        /// Drops all pending rows of the scope and ends it; the root scope also closes its store, after running calls.
        public func close() async {
            await withCheckedContinuation { continuation in end { continuation.resume() } }
        }

        /// Drops the pending rows, and calls a closure when the scope is closed.
        private func end(_ completion: @escaping @Sendable () -> Void) {
            // A child process has no threads for closing, and the files belong to its parent.
            guard core.process.isCurrent else { return completion() }
            let level = level
            let core = core
            let isRoot = parent == nil
            let count = level.close()
            core.scopeHasEnded(level.number)
            // Closing waits for running calls, one of which may have released the service.
            core.closing.async {
                if count > 0 {
                    core.store.onDiscard?(level.name, count)
                    core.tell(.discarded(scope: level.name, rows: count))
                }
                if isRoot {
                    core.close()
                } else if let store = try? core.openStore() {
                    store.mounts.forget(scope: level.number)
                }
                completion()
            }
        }
    }
#endif
