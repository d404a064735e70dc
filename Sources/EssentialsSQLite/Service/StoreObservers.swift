#if Persistence
    import Dispatch
    import EssentialsPersistence
    import Synchronization

    /// The observers of a store and of all its scopes. They are called on one serial queue, in the order of the events.
    final class StoreObservers: Sendable {
        private struct Observer<Event> {
            let scopes: Set<UInt64>
            let call: @Sendable (Event) -> Void

            /// Whether an event concerns the observer: one in a scope that it sees, or one of the whole store.
            func sees(_ scope: UInt64?) -> Bool { scope.map { scopes.contains($0) } ?? true }
        }

        private struct State {
            var next = 0
            var changes: [Int: Observer<PersistenceChange>] = [:]
            var states: [Int: Observer<PersistenceState>] = [:]
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

        /// The number of the observer that was added last.
        var newest: Int { state.withLock { $0.next } }

        /// Tells observers of a change of rows: those that see a scope, or all if the store has changed.
        ///
        /// - Parameters:
        ///   - keys: The rows; `nil` for any rows.
        ///   - scope: The scope in which rows are pending; `nil` for the store.
        ///   - newest: The last observer that is told. Later ones were added after the change.
        func notify(_ keys: Set<RowKey>?, in scope: UInt64?, through newest: Int) {
            guard keys?.isEmpty != true, state.withLock({ !$0.changes.isEmpty }) else { return }
            queue.async { [self] in
                let calls = state.withLock { state in
                    state.changes.filter { $0.key <= newest }.sorted { $0.key < $1.key }.map(\.value)
                        .filter { $0.sees(scope) }
                }
                guard !calls.isEmpty else { return }
                let change =
                    keys.map { keys in
                        PersistenceChange(
                            Dictionary(grouping: keys, by: \.table).mapValues { .ids(Set($0.map(\.id))) })
                    } ?? .unknown
                for observer in calls { observer.call(change) }
            }
        }

        // MARK: States

        /// Adds an observer of the states of a scope. ``begin(_:with:)`` gives it the first one.
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

        /// Tells one observer of the present state.
        func begin(_ number: Int, with present: PersistenceState) {
            queue.async { [self] in deliver(present) { other, _ in other == number } }
        }

        /// Tells observers of a new state: those that see a scope, or all if it is that of the store.
        func announce(_ new: PersistenceState, in scope: UInt64?) {
            guard state.withLock({ !$0.states.isEmpty }) else { return }
            queue.async { [self] in deliver(new) { _, observer in observer.sees(scope) } }
        }

        private func deliver(
            _ new: PersistenceState, to isReceiver: (Int, Observer<PersistenceState>) -> Bool
        ) {
            let observers = state.withLock { state in
                let observers = state.states.sorted { $0.key < $1.key }.filter { isReceiver($0.key, $0.value) }
                // Nothing follows the last state.
                if new == .closed { for (number, _) in observers { state.states[number] = nil } }
                return observers.map(\.value)
            }
            for observer in observers { observer.call(new) }
        }
    }
#endif
