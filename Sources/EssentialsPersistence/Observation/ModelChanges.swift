import EssentialsTools

/// The rows of a model that have changed.
public enum ModelChange<Model: PersistentModel>: Sendable, Hashable {
    /// The rows with these ids were created, changed or deleted.
    case ids(Set<Model.ID>)
    /// Any rows may have changed.
    case unknown
}

/// The ids of the rows of a model that change, as seen by a scope.
///
/// ```swift
/// for try await change in store.changes(in: Film.self) {
///     if case .ids(let ids) = change { reload(ids) } else { reloadAll() }
/// }
/// ```
///
/// No rows are read. Changes are gathered from the creation of the iterator, which is the beginning of the loop. A
/// consumer that is slower than the changes receives all their ids at once. It receives ``ModelChange/unknown`` instead
/// if there are more than 10,000 ids, if the store changed rows by itself, or if another process did.
///
/// The sequence ends with its task, and when the scope or a scope above it is closed. It throws `closed`, once, if the
/// scope was closed before. It keeps the scope alive.
public struct ModelChanges<Model: PersistentModel>: AsyncSequence, Sendable {
    let service: any PersistenceService

    /// Gathers the changes between two elements.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let service: any PersistenceService
        private var beginning: Result<(WakeUps, GatheredChanges<Model>), PersistenceFailure>?

        init(_ service: any PersistenceService) {
            self.service = service
            let changes = GatheredChanges<Model>()
            do throws(PersistenceFailure) {
                beginning = .success((try WakeUps(service) { changes.add($0) }, changes))
            } catch {
                beginning = .failure(error)
            }
        }

        /// The changes since the last call; `nil` after the scope was closed, the task was cancelled or the sequence
        /// has thrown.
        ///
        /// - Throws: A failure with the reason `closed`, once.
        public mutating func next() async throws(PersistenceFailure) -> ModelChange<Model>? {
            switch beginning {
            case .failure(let failure):
                beginning = nil
                throw failure
            case .success((let wakeUps, let changes)):
                // Changes that arrived during the last call may already be in its element.
                while await wakeUps.wait() {
                    if let change = changes.take() { return change }
                }
                beginning = nil
                return nil
            case nil: return nil
            }
        }
    }

    /// Begins to gather changes.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(service) }
}

/// The changes of a model that the consumer has not received yet.
private final class GatheredChanges<Model: PersistentModel>: Sendable {
    /// The maximum number of ids.
    static var capacity: Int { 10_000 }

    private let change = Mutex<ModelChange<Model>>(.ids([]))

    /// Adds a change, and returns whether it concerns the model.
    func add(_ change: PersistenceChange) -> Bool {
        guard change.touches(Model.table) else { return false }
        let ids = Self.ids(change)
        self.change.withLock { gathered in
            if case .ids(let known) = gathered, let ids, known.count + ids.count <= Self.capacity {
                gathered = .ids(known.union(ids))
            } else {
                gathered = .unknown
            }
        }
        return true
    }

    /// The ids of a change; `nil` if they are unknown.
    private static func ids(_ change: PersistenceChange) -> [Model.ID]? {
        guard !change.isUnknown, case .ids(let stored) = change.tables[Model.table] else { return nil }
        let ids = stored.compactMap { Model.ID(storedValue: $0) }
        return ids.count == stored.count ? ids : nil
    }

    /// Takes the gathered changes; `nil` if there are no changes.
    func take() -> ModelChange<Model>? {
        change.withLock { gathered in
            if gathered == .ids([]) { return nil }
            defer { gathered = .ids([]) }
            return gathered
        }
    }
}
