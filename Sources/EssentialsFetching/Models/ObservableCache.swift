public import EssentialsRequests

/// A model cache whose changes can be observed, such as ``ModelCache``.
///
/// Wrap your own cache in an ``ObservedCache`` to make it observable, or let it report its changes itself:
///
/// ```swift
/// nonisolated let changes = ModelCacheChanges()
///
/// func delete<Value>(_ key: ModelKey<Value>) async throws {
///     try await database.delete(key)
///     changes.changed(key)
/// }
/// ```
public protocol ObservableCache: AsyncCache {
    /// Notifies observers of changes. It must always be the same object.
    var changes: ModelCacheChanges { get }
}

/// Wraps any cache, so that the changes that are made through it can be observed.
///
/// ```swift
/// let service = CoinService(requests: requests, cache: ObservedCache(DatabaseCache()))
/// ```
///
/// Changes that other code makes to the wrapped cache are not seen.
public struct ObservedCache: ObservableCache {
    /// The cache that stores the models.
    public let wrapped: any AsyncCache
    /// Notifies observers of changes.
    public let changes = ModelCacheChanges()

    /// Wraps a cache.
    public init(_ wrapped: any AsyncCache) { self.wrapped = wrapped }

    /// The key of the wrapped cache.
    public var fingerprintKey: FingerprintKey { wrapped.fingerprintKey }

    /// Saves a model and notifies observers, even if the cache fails, because it may have changed.
    public func save<Value: Codable & Sendable>(
        _ model: CachedModel<Value>, for key: ModelKey<Value>
    ) async throws {
        defer { changes.changed(key) }
        try await wrapped.save(model, for: key)
    }

    /// The model under a key.
    public func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> CachedModel<Value>? {
        try await wrapped.load(key)
    }

    /// Deletes a model and notifies observers.
    public func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws {
        defer { changes.changed(key) }
        try await wrapped.delete(key)
    }

    /// Deletes all models and notifies all observers.
    public func deleteAll() async throws {
        defer { changes.allChanged() }
        try await wrapped.deleteAll()
    }

    /// Whether there is a model under a key.
    public func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> Bool {
        try await wrapped.contains(key)
    }
}
