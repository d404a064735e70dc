#if Persistence
    import Dispatch
    import EssentialsPersistence
    import EssentialsTools

    /// The observers of a store and of all its scopes. They are called on one serial queue, in the order of the events.
    final class StoreObservers: Sendable {
        private struct Observer<Event> {
            let scopes: Set<UInt64>
            let call: @Sendable (Event) -> Void

            /// Whether an event concerns the observer: an event in a scope that it sees, or one of the whole store.
            func sees(_ scope: UInt64?) -> Bool { scope.map { scopes.contains($0) } ?? true }
        }

        /// The changes of one call.
        private struct Due {
            let changes: [ChangedRows]
            /// The number of the newest observer to notify. Later ones were added after the change.
            let newest: Int
        }

        /// The maximum number of calls whose changes wait for slow observers. Beyond it, they become one change of
        /// unknown rows.
        static let maximumDue = 1_000

        private struct State {
            var next = 0
            var due: [Due] = []
            var changes: [Int: Observer<PersistenceChange>] = [:]
            var states: [Int: Observer<PersistenceState>] = [:]
        }

        /// Rows that look different to some readers.
        struct ChangedRows: Sendable {
            /// The rows; `nil` for any rows.
            let keys: Set<RowKey>?
            /// The scope. Its readers and those of the scopes within it see the change; `nil` for all readers.
            let scope: UInt64?
        }

        private let state = Mutex(State())
        private let queue = DispatchQueue(label: "ServiceEssentials.persistence.observers")

        // MARK: Changes

        /// Adds an observer of changes in these scopes and in the store.
        ///
        /// - Parameter onEnd: Called once, when the observation ends.
        func observe(
            scopes: Set<UInt64>, _ call: @escaping @Sendable (PersistenceChange) -> Void,
            onEnd: @escaping @Sendable () -> Void
        ) -> PersistenceObservation {
            let number = state.withLock { state in
                state.next += 1
                state.changes[state.next] = Observer(scopes: scopes, call: call)
                return state.next
            }
            return PersistenceObservation { [weak self] in
                let observer = self?.state.withLock { $0.changes.removeValue(forKey: number) }
                if observer != nil { onEnd() }
            }
        }

        /// Whether there are observers of changes.
        var areThere: Bool { state.withLock { !$0.changes.isEmpty } }

        /// Notes the rows that one call has changed. Each present observer will be called once, with all rows that look
        /// different to it, in the order in which changes are noted.
        ///
        /// - Parameter changes: The rows, for the readers of each scope.
        /// - Returns: Whether ``deliver()`` must follow.
        func note(_ changes: [ChangedRows]) -> Bool {
            let changes = changes.filter { $0.keys?.isEmpty != true }
            guard !changes.isEmpty else { return false }
            return state.withLock { state in
                guard !state.changes.isEmpty else { return false }
                let isFull = state.due.count >= Self.maximumDue
                if isFull { state.due = [] }
                state.due.append(
                    Due(changes: isFull ? [ChangedRows(keys: nil, scope: nil)] : changes, newest: state.next))
                return true
            }
        }

        /// Calls the observers for the noted changes.
        func deliver() { queue.async { [self] in deliverChanges() } }

        private func deliverChanges() {
            let due = state.withLock { state in
                defer { state.due = [] }
                return state.due
            }
            for due in due {
                let observers = state.withLock { state in
                    state.changes.filter { $0.key <= due.newest }.sorted { $0.key < $1.key }.map(\.value)
                }
                // Most observers see the same parts.
                var made: [[Int]: PersistenceChange] = [:]
                for observer in observers {
                    let parts = due.changes.indices.filter { observer.sees(due.changes[$0].scope) }
                    guard !parts.isEmpty else { continue }
                    let change = made[parts] ?? Self.change(parts.map { due.changes[$0].keys })
                    made[parts] = change
                    observer.call(change)
                }
            }
        }

        private static func change(_ parts: [Set<RowKey>?]) -> PersistenceChange {
            var tables: [String: Set<StoredValue>] = [:]
            for part in parts {
                guard let part else { return .unknown }
                for key in part { tables[key.table, default: []].insert(key.id) }
            }
            return PersistenceChange(tables.mapValues { .ids($0) })
        }

        // MARK: States

        /// Adds an observer of the states of a scope. ``begin(_:with:)`` sends it the first state.
        func observeStates(
            scopes: Set<UInt64>, _ call: @escaping @Sendable (PersistenceState) -> Void
        ) -> (number: Int, observation: PersistenceObservation) {
            let number = state.withLock { state in
                state.next += 1
                state.states[state.next] = Observer(scopes: scopes, call: call)
                return state.next
            }
            return (
                number,
                PersistenceObservation { [weak self] in
                    _ = self?.state.withLock { $0.states.removeValue(forKey: number) }
                }
            )
        }

        /// Sends the present state to one observer.
        func begin(_ number: Int, with present: PersistenceState) {
            queue.async { [self] in deliver(present) { other, _ in other == number } }
        }

        /// Sends a new state to the observers that see a scope, or to all observers if it is the state of the store.
        func announce(_ new: PersistenceState, in scope: UInt64?) {
            guard state.withLock({ !$0.states.isEmpty }) else { return }
            queue.async { [self] in deliver(new) { _, observer in observer.sees(scope) } }
        }

        private func deliver(
            _ new: PersistenceState, to isReceiver: (Int, Observer<PersistenceState>) -> Bool
        ) {
            deliverChanges()
            let observers = state.withLock { state in
                let observers = state.states.sorted { $0.key < $1.key }.filter { isReceiver($0.key, $0.value) }
                // No state follows the last one.
                if new == .closed { for (number, _) in observers { state.states[number] = nil } }
                return observers.map(\.value)
            }
            for observer in observers { observer.call(new) }
        }
    }
#endif
