import EssentialsTools

/// The rows of a model that have changed.
public enum ModelChange<Model: PersistentModel>: Sendable, Hashable {
    /// The rows with these ids were created, changed or deleted.
    case ids(Set<Model.ID>)
    /// Any rows may have changed.
    case unknown
}

/// The ids of the rows of a model that change, as far as a scope sees it.
///
/// ```swift
/// for try await change in store.changes(in: Film.self) {
///     if case .ids(let ids) = change { reload(ids) } else { reloadAll() }
/// }
/// ```
///
/// Nothing is read. Changes are gathered from the moment on at which the iterator is made, which is the beginning of the
/// loop. A consumer that is slower than the changes gets the ids of all of them at once; with more than 10,000 ids it gets
/// ``ModelChange/unknown``, and so it does when the store has changed rows by itself or another process has.
///
/// The sequence ends with its task, and when the scope or one above it is closed. It throws `closed`, once, if the scope was
/// closed before. It keeps the scope alive.
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

        /// The changes since the last call; `nil` after the scope was closed, the task was cancelled or the sequence has
        /// thrown.
        ///
        /// - Throws: A failure with the reason `closed`, once.
        public mutating func next() async throws(PersistenceFailure) -> ModelChange<Model>? {
            switch beginning {
            case .failure(let failure):
                beginning = nil
                throw failure
            case .success((let wakeUps, let changes)):
                // Changes that came during the last call may have been part of its element.
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

/// The changes of a model that no consumer has taken yet.
private final class GatheredChanges<Model: PersistentModel>: Sendable {
    /// The maximum number of ids.
    static var capacity: Int { 10_000 }

    private let change = Mutex<ModelChange<Model>>(.ids([]))

    /// Adds a change. `false` if it is none of the model.
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

    /// The ids of a change; `nil` if they are not known.
    private static func ids(_ change: PersistenceChange) -> [Model.ID]? {
        guard !change.isUnknown, case .ids(let stored) = change.tables[Model.table] else { return nil }
        let ids = stored.compactMap { Model.ID(storedValue: $0) }
        return ids.count == stored.count ? ids : nil
    }

    /// Takes what there is; `nil` for nothing.
    func take() -> ModelChange<Model>? {
        change.withLock { gathered in
            if gathered == .ids([]) { return nil }
            defer { gathered = .ids([]) }
            return gathered
        }
    }
}
