public import EssentialsRequests

/// Stores models for services that fetch them, under keys that contain their type.
///
/// Your own cache implements these five functions, over memory, files, a database or another process:
///
/// ```swift
/// actor DictionaryCache: AsyncCache {
///     private var models: [AnyHashable: any Sendable] = [:]
///
///     func save<Value>(_ model: CachedModel<Value>, for key: ModelKey<Value>) { models[key] = model }
///     func load<Value>(_ key: ModelKey<Value>) -> CachedModel<Value>? { models[key] as? CachedModel<Value> }
///     func contains<Value>(_ key: ModelKey<Value>) -> Bool { models[key] != nil }
///     func delete<Value>(_ key: ModelKey<Value>) { models[key] = nil }
///     func deleteAll() { models = [:] }
/// }
/// ```
///
/// The functions are called from any task. An error that they throw never ends a fetch: a failed read counts as a miss.
/// A cache may forget any model at any time. It must not find a model under another key than that with which it was
/// saved, and a model whose encoding cannot be read any more is a miss.
public protocol AsyncCache: Sendable {
    /// The key with which the header fields of environments are hashed for the keys of models. The default is
    /// `FingerprintKey.common`. A cache that outlives the process can instead keep a random key with its models.
    var fingerprintKey: FingerprintKey { get }

    /// Saves a model in place of the existing one.
    ///
    /// A cache that outlives the process must not store a model whose ``CachedModel/isMemoryOnly`` is `true`. It keeps
    /// it in memory or not at all, and deletes the existing model in either case.
    func save<Value: Codable & Sendable>(_ model: CachedModel<Value>, for key: ModelKey<Value>) async throws

    /// The model under a key with the time at which the server sent it; `nil` if there is none.
    func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> CachedModel<Value>?

    /// Deletes a model. Nothing happens if there is none.
    func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws

    /// Deletes all models.
    func deleteAll() async throws

    /// Whether there is a model under a key. Reading it may still fail later.
    func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> Bool
}

extension AsyncCache {
    /// The key of all caches that have no key of their own.
    public var fingerprintKey: FingerprintKey { .common }
}
