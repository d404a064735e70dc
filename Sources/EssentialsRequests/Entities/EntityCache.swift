/// Stores entities of resources, in memory, in files or elsewhere, so that a program that starts again has content at once.
///
/// ``MemoryEntityCache`` and ``FileEntityCache`` are ready to use. A cache of your own stores entities under keys:
///
/// ```swift
/// actor SharedCache: EntityCache {
///     private var entities: [EntityKey: StoredEntity] = [:]
///     nonisolated let isPersistent = false
///
///     func entity(for key: EntityKey) -> StoredEntity? { entities[key] }
///     func store(_ entity: StoredEntity, for key: EntityKey) { entities[key] = entity }
///     func remove(_ key: EntityKey) { entities[key] = nil }
///     func removeAll(in scope: EntityScope) { entities = entities.filter { !scope.contains($0.key) } }
/// }
/// ```
///
/// The service calls each function from its own tasks, never two at a time for the same key except for reading. What a
/// function throws reaches no load: reading counts as a miss then, and the fault is counted in
/// `HTTPResourceService.cacheProblems`. A load waits at most 250 milliseconds for an entity. A cache may forget what it
/// likes at any time, and must not find an entity under another key than that with which it was stored.
public protocol EntityCache: AnyObject, Sendable {
    /// Whether other processes, or this program when it runs again, can read what is stored. The default is `true`.
    ///
    /// The service stores no responses with `no-store` in such a cache, and no responses to requests with credentials as
    /// long as no partition was entered.
    var isPersistent: Bool { get }

    /// The key with which the header fields of environments are hashed for the keys of entities.
    ///
    /// A persistent cache keeps a random key with its entities, as ``FileEntityCache`` does. The default for a persistent
    /// cache is `FingerprintKey.common`, and for other caches a key of this process.
    var fingerprintKey: FingerprintKey { get }

    /// The entity under a key; `nil` if there is none.
    func entity(for key: EntityKey) async throws -> StoredEntity?

    /// Stores an entity in place of the one that is there.
    func store(_ entity: StoredEntity, for key: EntityKey) async throws

    /// Renews times and header fields of an entity that the server has confirmed. Without an entity, and for a confirmation
    /// of another entity, nothing happens; see ``StoredEntity/revalidated(by:)``.
    func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) async throws

    /// Removes an entity. Without one nothing happens.
    func remove(_ key: EntityKey) async throws

    /// Removes all entities of a scope. A cache that cannot tell which they are removes more.
    func removeAll(in scope: EntityScope) async throws
}

extension EntityCache {
    /// `true`, because that is the cautious assumption.
    public var isPersistent: Bool { true }

    /// The key of all persistent caches without a key of their own, or of the process if the cache is not persistent.
    public var fingerprintKey: FingerprintKey { isPersistent ? .common : .process }

    /// Reads the entity, and stores it with the new times and header fields.
    public func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) async throws {
        guard let entity = try await entity(for: key) else { return }
        try await store(entity.revalidated(by: confirmation), for: key)
    }
}
