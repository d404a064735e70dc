import EssentialsHTTP
import EssentialsStorage
import EssentialsTools

/// An entity cache in memory, up to a size. The entities that were used longest ago are dropped first.
///
/// ```swift
/// let cache = MemoryEntityCache(maximumBytes: 16 << 20)
/// try service.configure("/reports/*") { $0.pipeline.cache(in: cache, at: .decoding) }
/// ```
///
/// It is useful where a resource service keeps less content than the memory cache, and for several services that share
/// one. It ends with the process, so it also stores responses with `no-store` and those to requests with credentials.
/// All functions can be called from any thread and return at once.
public final class MemoryEntityCache: EntityCache {
    private let entries: Mutex<LeastRecentlyUsed<EntityKey, StoredEntity>>

    /// `false`: what is stored ends with the process.
    public var isPersistent: Bool { false }

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - maximumBytes: The size of all entities. The default is 16 MiB.
    ///   - maximumCount: The number of entities. The default is 10,000.
    public init(maximumBytes: Int = 16 << 20, maximumCount: Int = 10_000) {
        entries = Mutex(LeastRecentlyUsed(maximumCount: maximumCount, maximumBytes: maximumBytes))
    }

    /// The number of entities.
    public var count: Int { entries.withLock { $0.count } }
    /// The approximate size of all entities in bytes.
    public var byteCount: Int { entries.withLock { $0.bytes } }

    /// The entity under a key, which counts as a use.
    public func entity(for key: EntityKey) -> StoredEntity? { entries.withLock { $0.use(key) } }

    /// Stores an entity. One that is larger than the cache is not kept.
    public func store(_ entity: StoredEntity, for key: EntityKey) {
        entries.withLock { _ = $0.insert(entity, for: key, bytes: Self.size(entity, key)) }
    }

    /// Renews times and header fields.
    public func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) {
        entries.withLock { entries in
            guard let entity = entries.use(key) else { return }
            let renewed = entity.revalidated(by: confirmation)
            _ = entries.insert(renewed, for: key, bytes: Self.size(renewed, key))
        }
    }

    /// Removes an entity.
    public func remove(_ key: EntityKey) { entries.withLock { _ = $0.remove(key) } }

    /// Removes all entities of a scope. The scope's condition is called outside the lock.
    public func removeAll(in scope: EntityScope) {
        let keys = entries.withLock { $0.keys }.filter { scope.contains($0) }
        entries.withLock { entries in for key in keys { entries.remove(key) } }
    }

    /// Removes the entities that were used longest ago, for a program that must free memory.
    ///
    /// - Parameter part: The part of the entities that is removed, from 0 to 1. The default is all.
    public func trim(part: Double = 1) {
        // A number that is none removes nothing.
        guard part > 0 else { return }
        entries.withLock { entries in
            let count = Int(Double(entries.count) * min(part, 1))
            for key in entries.keys.prefix(count) { entries.remove(key) }
        }
    }

    private static func size(_ entity: StoredEntity, _ key: EntityKey) -> Int {
        entity.byteCount + key.url.utf8.count + 128
    }
}
