public import EssentialsPersistence
public import EssentialsRequests
import EssentialsTools

/// An entity cache in a persistence service, up to a size. The entities that were used longest ago are removed first.
///
/// The store has the model ``EntityRow`` among its models, and its table:
///
/// ```swift
/// let store = SQLitePersistenceService(
///     SQLiteStore(path: "/var/lib/shop/cache.sqlite", models: [EntityRow.self]),
///     migrations: [Migration("1 entities", sql: EntityRow.tableSQL)])
/// let cache = PersistentEntityCache(store)
/// let resources = try HTTPResourceService(requests: requests, environment: environment, cache: cache)
/// ```
///
/// It suits programs that have a store anyway, or cannot have thousands of small files. `FileEntityCache` is faster and
/// needs no store. The service belongs to the caller, who closes it after the resources. A scope with pending rows is not
/// for caches, because each change is saved into the store at once.
///
/// A damaged row counts as a miss and is removed. What was used is noted with the next entity that is stored.
public final class PersistentEntityCache: EntityCache {
    /// How many rows are looked at together when entities are removed.
    private static let step = 64
    /// How many uses wait to be noted.
    private static let maximumUses = 1_000

    private let store: any PersistenceService
    private let maximumBytes: Int
    private let uses = Mutex<Set<String>>([])

    /// Creates a cache in a store. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - store: The persistence service, which may still be opening.
    ///   - maximumBytes: The size of all entities. The default is 64 MiB.
    public init(_ store: any PersistenceService, maximumBytes: Int = 64 << 20) {
        self.store = store
        self.maximumBytes = max(maximumBytes, 0)
    }

    /// The entity under a key, which counts as a use.
    ///
    /// - Throws: `PersistenceFailure` if the store cannot be read.
    public func entity(for key: EntityKey) async throws -> StoredEntity? {
        let id = EntityHashes(key).keyText
        guard let row = try await store.find(EntityRow.self, id: id) else { return nil }
        guard let (found, entity) = EntityBytes.read(row.contents) else {
            try await remove(key)
            return nil
        }
        // Another key with the same hash.
        guard found == key else { return nil }
        uses.withLock { uses in
            if uses.count < Self.maximumUses { uses.insert(id) }
        }
        return entity
    }

    /// Stores an entity. One that is larger than the cache is not kept.
    ///
    /// - Throws: `PersistenceFailure` if the store cannot be written, such as on a full disk.
    public func store(_ entity: StoredEntity, for key: EntityKey) async throws {
        guard let contents = EntityBytes.bytes(of: entity, for: key), contents.count <= maximumBytes else {
            return try await remove(key)
        }
        let row = EntityRow(EntityHashes(key), contents)
        let used = uses.withLock { uses in
            defer { uses = [] }
            return uses.subtracting([row.id])
        }
        let maximum = maximumBytes
        try await store.perform(save: .store, resolving: .mine) { work in
            var row = row
            var order = try work.max(EntityRow.all.values { $0.used }) ?? 0
            for id in used where order < .max {
                order += 1
                let next = order
                try work.update(EntityRow.where { $0.id == id }) { $0.used = next }
            }
            row.used = order < .max ? order + 1 : order
            try work.put(row)
            try Self.shrink(work, to: maximum)
        }
    }

    /// Removes an entity.
    ///
    /// - Throws: `PersistenceFailure` if the store cannot be written.
    public func remove(_ key: EntityKey) async throws {
        let id = EntityHashes(key).keyText
        try await store.delete(EntityRow.where { $0.id == id }, save: .store)
    }

    /// Removes all entities of a scope. A partition and an origin are found in an index; a scope with a condition on keys
    /// needs their rows to be read.
    ///
    /// - Throws: `PersistenceFailure` if the store cannot be read or written.
    public func removeAll(in scope: EntityScope) async throws {
        var rows = EntityRow.all
        if let partition = scope.partition {
            let hash = EntityRow.number(EntityHashes.hash(partition.name))
            rows = rows.where { $0.partition == hash }
        }
        if let origin = scope.origin {
            let hash = EntityRow.number(EntityHashes.hash(origin))
            rows = rows.where { $0.origin == hash }
        }
        guard scope.matches != nil else {
            try await store.delete(rows, save: .store)
            return
        }
        for id in try await store.ids(rows) {
            guard let row = try await store.find(EntityRow.self, id: id) else { continue }
            if let (key, _) = EntityBytes.read(row.contents), !scope.contains(key) { continue }
            try await store.delete(EntityRow.where { $0.id == id }, save: .store)
        }
    }

    /// Removes the entities that were used longest ago until the others fit.
    private static func shrink(_ work: PersistenceWork, to maximum: Int) throws {
        var excess = try work.sum(EntityRow.all.values { $0.size }) - maximum
        while excess > 0 {
            let oldest = EntityRow.all.sorted { [$0.used.ascending] }.limit(step)
            let ids = try work.ids(oldest)
            let sizes = try work.values(oldest.values { $0.size })
            var removed: [String] = []
            for (id, size) in zip(ids, sizes) where excess > 0 {
                removed.append(id)
                excess -= size
            }
            guard !removed.isEmpty else { return }
            try work.delete(EntityRow.where { $0.id.isIn(removed) })
        }
    }
}
