#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools

    /// An open store, with the parts that its scopes share.
    struct OpenStore: Sendable {
        let database: StoreDatabase
        let mounts: MountPool
        let models: [ModelSchema]
        let deletions: DeletionRules
        let orphans: PendingOrphans

        var schema: FileSchema { database.schema }

        init(_ store: SQLiteStore, migrations: [Migration]) throws(PersistenceFailure) {
            database = try StoreDatabase.open(store, migrations: migrations)
            mounts = MountPool(
                path: database.name, schema: database.schema, maximum: store.pendingReaderCount,
                busyMode: StoreDatabase.busyMode(store), file: database.file)
            models = store.models
            deletions = DeletionRules(foreignKeys: database.schema.foreignKeys)
            orphans = PendingOrphans(
                foreignKeys: database.schema.foreignKeys, keys: database.schema.tables.mapValues(\.key))
        }

        /// The tables, and all tables whose rows refer to them by one column, directly or through other tables.
        func closure(_ tables: Set<String>) -> Set<String> {
            var tables = tables
            var count = 0
            while count != tables.count {
                count = tables.count
                for key in schema.foreignKeys where key.reference != nil && tables.contains(key.parent) {
                    tables.insert(key.table)
                }
            }
            return tables
        }
    }

    /// The parts of a store that all its scopes share: the store from opening to closing, its threads and its
    /// observers.
    final class StoreCore: Sendable {
        private enum Phase {
            case opening([@Sendable () -> Void])
            case ready(OpenStore)
            case failed(PersistenceFailure)
            case closed

            var state: PersistenceState {
                switch self {
                case .opening: .opening
                case .ready: .ready
                case .failed(let failure): .failed(failure)
                case .closed: .closed
                }
            }
        }

        let store: SQLiteStore
        /// Calls of other processes, which are children after a fork, are refused before they take a lock.
        let process = OwnerProcess()
        private let migrations: [Migration]
        private let phase = Mutex(Phase.opening([]))
        /// Held while a save is committed and the levels are emptied, and while a read pins the file and takes the
        /// levels. So a reader finds a row either pending or stored.
        let gate = Mutex(())
        private let reads: WorkQueue
        /// Runs reads that wait for their callers. Its threads serve no other reads.
        private let stateReads: WorkQueue
        /// The number of reads that hold a state of the rows.
        private let heldStates = Mutex(0)
        private let changes = WorkQueue("ServiceEssentials.persistence.changes", width: 8)
        let observers = StoreObservers()
        /// Entered while the store is being opened or closed, so that each `close()` returns only after the file is
        /// released.
        private let transitions = DispatchGroup()
        /// Opens the store, and closes scopes and the store. Serial queues have their own threads.
        private let opening = DispatchQueue(label: "ServiceEssentials.persistence.opening")
        let closing = DispatchQueue(label: "ServiceEssentials.persistence.closing")
        /// Set once, before the store is opened.
        private let others = Mutex<OtherWrites?>(nil)

        init(_ store: SQLiteStore, migrations: [Migration]) {
            var store = store
            store.path = StorePath.located(store.path)
            self.store = store
            self.migrations = migrations
            reads = WorkQueue("ServiceEssentials.persistence.reads", width: store.readerCount + 8)
            stateReads = WorkQueue("ServiceEssentials.persistence.states", width: store.stateReaderCount)
            guard let interval = store.watchesOthers else { return }
            let watch = OtherWrites(every: interval) { [weak self] in
                try? self?.readyStore?.database.otherWrites()
            } onWrite: { [weak self] in
                guard let self else { return }
                if observers.note([StoreObservers.ChangedRows(keys: nil, scope: nil)]) { observers.deliver() }
            }
            others.withLock { $0 = watch }
        }

        /// The checks for writes of other processes; `nil` if they are off.
        var otherWrites: OtherWrites? { others.withLock { $0 } }

        // MARK: Opening

        /// Opens the store in the background.
        func open() {
            transitions.enter()
            opening.async { [self] in
                defer { transitions.leave() }
                let opened: Phase
                do throws(PersistenceFailure) {
                    let store = try OpenStore(store, migrations: migrations)
                    if let otherWrites { otherWrites.begin(try store.database.otherWrites()) }
                    opened = .ready(store)
                } catch {
                    opened = .failed(error.naming(store: store.path).ofOpening())
                }
                // The first call runs after this was told, and the end of the store waits for it.
                if case .ready = opened { tell(.opened) }
                let waiting = phase.withLock { phase in
                    guard case .opening(let waiting) = phase else { return nil as [@Sendable () -> Void]? }
                    phase = opened
                    observers.announce(opened.state, in: nil)
                    return waiting
                }
                // It was closed in the meantime.
                if waiting == nil, case .ready(let store) = opened { Self.close(store) }
                // An observer may try again at once.
                if waiting != nil, case .failed(let failure) = opened { tell(.openingFailed(failure.reason)) }
                for body in waiting ?? [] { body() }
            }
        }

        /// Tries again to open a store that failed to open.
        func reopen() {
            let isFailed = phase.withLock { phase in
                guard case .failed = phase else { return false }
                phase = .opening([])
                observers.announce(.opening, in: nil)
                return true
            }
            if isFailed { open() }
        }

        var state: PersistenceState { phase.withLock { $0.state } }

        /// The open store; `nil` if it is not open.
        var readyStore: OpenStore? {
            phase.withLock { phase in if case .ready(let store) = phase { store } else { nil } }
        }

        /// The open store.
        ///
        /// - Throws: A failure with the reason `notReady` or `closed`, or the failure that kept the store from opening.
        func openStore() throws(PersistenceFailure) -> OpenStore {
            try phase.withLock { phase throws(PersistenceFailure) in
                switch phase {
                case .opening: throw PersistenceFailure(.notReady, "The store is being opened.", store: store.path)
                case .ready(let store): return store
                case .failed(let failure): throw failure
                case .closed: throw PersistenceFailure(.closed, "The store is closed.", store: store.path)
                }
            }
        }

        /// Runs a job in the background as soon as the store is open, or has failed to open.
        func submit(_ job: PersistenceJob, _ body: @escaping @Sendable () -> Void) {
            guard job.plan.holdsState else { return submit(job.plan.action == .read ? reads : changes, body) }
            let isFree = heldStates.withLock { count in
                guard count < store.stateReaderCount else { return false }
                count += 1
                return true
            }
            guard isFree else {
                return job.finish(
                    .failure(
                        PersistenceFailure(
                            .busy, "\(store.stateReaderCount) iterators hold a state of the store.",
                            remedy: "End one of them, read batches of the newest state, or raise `stateReaders`.",
                            store: store.path)))
            }
            submit(stateReads) { [self] in
                body()
                heldStates.withLock { $0 -= 1 }
            }
        }

        private func submit(_ queue: WorkQueue, _ body: @escaping @Sendable () -> Void) {
            let isWaiting = phase.withLock { phase in
                guard case .opening(var waiting) = phase else { return false }
                phase = .closed
                waiting.append { queue.submit(body) }
                phase = .opening(waiting)
                return true
            }
            if !isWaiting { queue.submit(body) }
        }

        /// Closes the store. It blocks until running calls have ended. A store that is being opened is closed too.
        func close() {
            let old = phase.withLock { phase in
                defer { phase = .closed }
                observers.announce(.closed, in: nil)
                return phase
            }
            otherWrites?.stop()
            switch old {
            case .opening(let waiting):
                for body in waiting { body() }
                transitions.wait()
            case .ready(let store):
                transitions.enter()
                Self.close(store)
                transitions.leave()
            case .failed: transitions.wait()
            case .closed: return transitions.wait()
            }
            tell(.closed)
        }

        private static func close(_ store: OpenStore) {
            store.mounts.close()
            // The rest of the log is copied into the file when the store is opened next time.
            try? store.database.close()
        }

        // MARK: Observers

        /// Tells the observers of the store, which are called without a lock.
        func tell(_ kind: @autoclosure () -> StoreEvent.Kind) {
            guard !store.observers.isEmpty else { return }
            let event = StoreEvent(kind(), store: store.path)
            for observer in store.observers { observer.observe(event) }
        }

        /// Adds an observer of changes in these scopes and in the store.
        func observe(
            scopes: Set<UInt64>, _ call: @escaping @Sendable (PersistenceChange) -> Void
        ) -> PersistenceObservation {
            let otherWrites = otherWrites
            let observation = observers.observe(scopes: scopes, call) { otherWrites?.remove() }
            otherWrites?.add()
            return observation
        }

        /// Adds an observer of the states of a scope.
        ///
        /// - Parameter chain: The levels from the root scope to this one.
        func observeState(
            of chain: [ScopeLevel], _ call: @escaping @Sendable (PersistenceState) -> Void
        ) -> PersistenceObservation {
            let (number, observation) = observers.observeStates(scopes: Set(chain.map(\.number)), call)
            // A scope that is closed from now on notifies the observer itself.
            let isClosed = chain.contains { $0.isClosed }
            // The lock keeps the states in order.
            phase.withLock { phase in observers.begin(number, with: isClosed ? .closed : phase.state) }
            return observation
        }

        /// Notifies the observers of a scope and of the scopes within it that it is closed.
        func scopeHasEnded(_ scope: UInt64) { observers.announce(.closed, in: scope) }
    }
#endif
