public import EssentialsRequests
import EssentialsTools

/// An entity cache in memory that fails, stalls and keeps as a test chooses.
///
/// ```swift
/// let cache = ScriptedEntityCache()
/// let resources = try ScriptedResources(cache: cache)
/// cache.fail(with: DiskFull(), for: [.store])   // the disk is full
/// cache.stall([.read])                          // and does not respond
/// let load = cart.startLoad()
/// await cache.called()                          // the load waits for the cache
/// cache.release()
/// ```
///
/// Without such a script it keeps everything that is stored, without a limit. It lists its calls and its entities, and
/// can be used from any thread.
public final class ScriptedEntityCache: EntityCache {
    /// A function of an entity cache.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// `entity(for:)`.
        case read
        /// `store(_:for:)`.
        case store
        /// `revalidated(_:by:)`.
        case revalidate
        /// `remove(_:)`.
        case remove
        /// `removeAll(in:)`.
        case removeAll
    }

    /// A call of the cache.
    public struct Call: Sendable, Hashable {
        /// The function.
        public let operation: Operation
        /// The key; `nil` for the removal of a scope.
        public let key: EntityKey?

        /// Creates a call, to compare with.
        public init(_ operation: Operation, _ key: EntityKey? = nil) {
            self.operation = operation
            self.key = key
        }
    }

    private struct State {
        var entities: [EntityKey: StoredEntity] = [:]
        var calls: [Call] = []
        var errors: [Operation: any Error] = [:]
        var stalling: Set<Operation> = []
        var stalled: [(operation: Operation, release: OneShot<Void>)] = []
        /// Those who wait for a number of calls.
        var waiting: [(count: Int, reached: OneShot<Void>)] = []
    }

    /// Whether the service treats the cache as one that outlives the process.
    public let isPersistent: Bool
    private let state = Mutex(State())

    /// Creates an empty cache.
    ///
    /// - Parameter isPersistent: Whether the service treats it as one that outlives the process. The default is `true`.
    public init(isPersistent: Bool = true) { self.isPersistent = isPersistent }

    // MARK: What it keeps

    /// The entities that are stored.
    public var entities: [EntityKey: StoredEntity] { state.withLock { $0.entities } }
    /// All calls so far, in the order in which they began.
    public var calls: [Call] { state.withLock { $0.calls } }
    /// The number of calls that stall.
    public var stalledCount: Int { state.withLock { $0.stalled.count } }

    /// Stores an entity without a call, such as one of an earlier run of the program.
    public func preset(_ entity: StoredEntity, for key: EntityKey) { state.withLock { $0.entities[key] = entity } }

    /// Waits until a number of calls have begun.
    public func called(_ count: Int = 1) async {
        let reached = OneShot<Void>()
        let isReached = state.withLock { state in
            if state.calls.count >= count { return true }
            state.waiting.append((count, reached))
            return false
        }
        if !isReached { await reached.value() }
    }

    // MARK: The script

    /// Lets calls fail from now on, also those that stall. A call that fails changes nothing.
    ///
    /// - Parameters:
    ///   - error: What they throw.
    ///   - operations: The functions that fail. The default is all.
    public func fail(with error: any Error, for operations: Set<Operation> = Set(Operation.allCases)) {
        state.withLock { state in for operation in operations { state.errors[operation] = error } }
    }

    /// Lets calls fail no more.
    ///
    /// - Parameter operations: The functions that succeed again. The default is all.
    public func succeed(_ operations: Set<Operation> = Set(Operation.allCases)) {
        state.withLock { state in for operation in operations { state.errors[operation] = nil } }
    }

    /// Lets calls wait from now on, until ``release(_:)`` is called. The cancellation of their tasks does not end the
    /// wait, as with a disk that does not respond.
    ///
    /// - Parameter operations: The functions that wait. The default is all.
    public func stall(_ operations: Set<Operation> = Set(Operation.allCases)) {
        state.withLock { $0.stalling.formUnion(operations) }
    }

    /// Resumes the calls that wait, and lets later ones wait no more.
    ///
    /// - Parameter operations: The functions that no longer wait. The default is all.
    public func release(_ operations: Set<Operation> = Set(Operation.allCases)) {
        let released = state.withLock { state in
            state.stalling.subtract(operations)
            let released = state.stalled.filter { operations.contains($0.operation) }.map(\.release)
            state.stalled.removeAll { operations.contains($0.operation) }
            return released
        }
        for release in released { release.provide(()) }
    }

    // MARK: The cache

    /// The entity under a key.
    public func entity(for key: EntityKey) async throws -> StoredEntity? {
        try await begin(Call(.read, key))
        return state.withLock { $0.entities[key] }
    }

    /// Stores an entity.
    public func store(_ entity: StoredEntity, for key: EntityKey) async throws {
        try await begin(Call(.store, key))
        state.withLock { $0.entities[key] = entity }
    }

    /// Renews times and header fields of an entity.
    public func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) async throws {
        try await begin(Call(.revalidate, key))
        state.withLock { $0.entities[key] = $0.entities[key]?.revalidated(by: confirmation) }
    }

    /// Removes an entity.
    public func remove(_ key: EntityKey) async throws {
        try await begin(Call(.remove, key))
        state.withLock { $0.entities[key] = nil }
    }

    /// Removes all entities of a scope. The scope's condition is called outside the lock.
    public func removeAll(in scope: EntityScope) async throws {
        try await begin(Call(.removeAll))
        let keys = entities.keys.filter { scope.contains($0) }
        state.withLock { state in for key in keys { state.entities[key] = nil } }
    }

    /// Notes a call, and lets it stall and fail as the script says.
    private func begin(_ call: Call) async throws {
        let due = state.withLock { state in
            state.calls.append(call)
            let count = state.calls.count
            let due = state.waiting.filter { $0.count <= count }.map(\.reached)
            state.waiting.removeAll { $0.count <= count }
            return due
        }
        for reached in due { reached.provide(()) }
        let release = OneShot<Void>()
        let isStalling = state.withLock { state in
            guard state.stalling.contains(call.operation) else { return false }
            state.stalled.append((call.operation, release))
            return true
        }
        if isStalling { await release.value() }
        let error = state.withLock { $0.errors[call.operation] }
        if let error { throw error }
    }
}
