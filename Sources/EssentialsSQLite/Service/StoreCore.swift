#if Persistence
    import Dispatch
    import EssentialsPersistence
    import Synchronization

    /// A store that is open, with all that its scopes share.
    struct OpenStore: Sendable {
        let database: StoreDatabase
        let mounts: MountPool
        let models: [ModelSchema]
        let deletions: DeletionRules

        var schema: FileSchema { database.schema }

        init(_ store: SQLiteStore, migrations: [Migration]) throws(PersistenceFailure) {
            database = try StoreDatabase.open(store, migrations: migrations)
            mounts = MountPool(path: database.name, schema: database.schema)
            models = store.models
            deletions = DeletionRules(foreignKeys: database.schema.foreignKeys)
        }

        /// The tables and all tables whose rows refer to them, through any number of others.
        func closure(_ tables: Set<String>) -> Set<String> {
            var tables = tables
            var count = 0
            while count != tables.count {
                count = tables.count
                for key in schema.foreignKeys where tables.contains(key.parent) { tables.insert(key.table) }
            }
            return tables
        }
    }

    /// What all scopes of a store share: the store while it is opened, used and closed, its threads and its observers.
    final class StoreCore: Sendable {
        private enum Phase {
            case opening([@Sendable () -> Void])
            case ready(OpenStore)
            case failed(PersistenceFailure)
            case closed
        }

        private struct Observer {
            let scopes: Set<UInt64>
            let call: @Sendable (PersistenceChange) -> Void
        }

        let store: SQLiteStore
        private let migrations: [Migration]
        private let phase = Mutex(Phase.opening([]))
        /// Held while a save is committed and the levels are emptied, and while a read pins the file and takes the levels.
        /// So a reader finds a row either pending or stored.
        let gate = Mutex(())
        private let reads: WorkQueue
        private let changes = WorkQueue("ServiceEssentials.persistence.changes", width: 8)
        private let observers = Mutex<(next: Int, list: [Int: Observer])>((0, [:]))
        private let notifications = DispatchQueue(label: "ServiceEssentials.persistence.observers")

        init(_ store: SQLiteStore, migrations: [Migration]) {
            self.store = store
            self.migrations = migrations
            reads = WorkQueue("ServiceEssentials.persistence.reads", width: max(store.readers, 1) + 8)
        }

        // MARK: Opening

        /// Opens the store in the background.
        func open() {
            DispatchQueue.global().async { [self] in
                let opened: Phase
                do throws(PersistenceFailure) {
                    opened = .ready(try OpenStore(store, migrations: migrations))
                } catch {
                    opened = .failed(error.naming(store: store.path))
                }
                let waiting = phase.withLock { phase in
                    guard case .opening(let waiting) = phase else { return nil as [@Sendable () -> Void]? }
                    phase = opened
                    return waiting
                }
                // It was closed in the meantime.
                if waiting == nil, case .ready(let store) = opened { Self.close(store) }
                for body in waiting ?? [] { body() }
            }
        }

        /// Tries to open a store again that could not be opened.
        func reopen() {
            let isFailed = phase.withLock { phase in
                guard case .failed = phase else { return false }
                phase = .opening([])
                return true
            }
            if isFailed { open() }
        }

        var state: PersistenceState {
            phase.withLock { phase in
                switch phase {
                case .opening: .opening
                case .ready: .ready
                case .failed(let failure): .failed(failure)
                case .closed: .closed
                }
            }
        }

        /// The open store.
        ///
        /// - Throws: A failure with the reason `notReady` or `closed`, or what has kept the store from opening.
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

        /// Runs a closure in the background as soon as the store is open, or has failed to open.
        func submit(changing: Bool, _ body: @escaping @Sendable () -> Void) {
            let queue = changing ? changes : reads
            let isWaiting = phase.withLock { phase in
                guard case .opening(var waiting) = phase else { return false }
                phase = .closed
                waiting.append { queue.submit(body) }
                phase = .opening(waiting)
                return true
            }
            if !isWaiting { queue.submit(body) }
        }

        /// Closes the store. It blocks until running calls have ended.
        func close() {
            let old = phase.withLock { phase in
                defer { phase = .closed }
                return phase
            }
            switch old {
            case .opening(let waiting): for body in waiting { body() }
            case .ready(let store): Self.close(store)
            case .failed, .closed: break
            }
        }

        private static func close(_ store: OpenStore) {
            store.mounts.close()
            // What is left of the log is brought into the file when the store is opened the next time.
            try? store.database.close()
        }

        // MARK: Observers

        /// Adds an observer of changes in these scopes and in the store.
        func observe(
            scopes: Set<UInt64>, _ call: @escaping @Sendable (PersistenceChange) -> Void
        ) -> PersistenceObservation {
            let number = observers.withLock { observers in
                observers.next += 1
                observers.list[observers.next] = Observer(scopes: scopes, call: call)
                return observers.next
            }
            return PersistenceObservation { [weak self] in
                _ = self?.observers.withLock { $0.list.removeValue(forKey: number) }
            }
        }

        /// Tells observers of a change, one after the other: those that see a scope, or all if the store has changed.
        func notify(_ keys: Set<RowKey>?, in scope: UInt64?) {
            guard keys?.isEmpty != true, observers.withLock({ !$0.list.isEmpty }) else { return }
            let change =
                keys.map { keys in
                    PersistenceChange(
                        Dictionary(grouping: keys, by: \.table).mapValues { .ids(Set($0.map(\.id))) })
                } ?? .unknown
            notifications.async { [self] in
                let calls = observers.withLock { observers in
                    observers.list.sorted { $0.key < $1.key }.map(\.value)
                        .filter { observer in scope.map { observer.scopes.contains($0) } ?? true }
                }
                for observer in calls { observer.call(change) }
            }
        }
    }
#endif
