public import EssentialsHTTP
public import EssentialsRequests
import FoundationEssentials
public import Logging
import Synchronization

/// The default cache of models: decoded models in memory, and their encodings in an entity cache below.
///
/// ```swift
/// let files = try FileEntityCache(directory: "/var/cache/shop")
/// let service = CoinService(requests: requests, cache: ModelCache(over: files))
/// ```
///
/// The entity cache can be a ``FileEntityCache``, a ``SealedEntityCache``, a ``MemoryEntityCache`` or one of your own, and
/// can also be the cache of an ``HTTPResourceService``: models and resources then share its size, and neither finds or
/// deletes what belongs to the other. Use one model cache for a directory in a process, because another one would not
/// notice its changes in memory.
///
/// A model from memory is the value that was saved. One from the entity cache was encoded as JSON and decoded again. Models
/// are encoded, and large ones decoded, on no actor. Saving returns when the model can be found; it is written in the
/// background (see ``flush()``), up to 1,000 models and 16 MiB at a time. What fails then ends no fetch and is counted in
/// ``problems``. All functions can be called from any task. For one key, of two changes that overlap the one that began
/// later holds.
///
/// A model that is ``CachedModel/isMemoryOnly`` is kept in memory and in an entity cache that is not persistent. From a
/// persistent one its save removes the earlier model, so it is gone when it leaves memory.
///
/// A model that cannot be decoded, because its type has changed without a new ``ModelKey/schema``, and an entry that is
/// damaged are misses, and are removed.
public final class ModelCache: ObservableCache {
    /// The settings of a cache.
    ///
    /// ```swift
    /// var configuration = ModelCache.Configuration()
    /// configuration.maximumAge = .seconds(7 * 86_400)
    /// ```
    public struct Configuration: Sendable {
        /// The age from which a model is a miss and is removed. The default is `nil`: models have no maximum age. If there
        /// is one, a model whose date lies in the future, because the clock was set back, is a miss too, and stays.
        public var maximumAge: Duration?
        /// The number of decoded models in memory. The default is 1,000.
        public var maximumCount = 1_000
        /// The size of the decoded models in memory, measured by their encodings. The default is 16 MiB. A larger model is
        /// found in the entity cache only.
        public var maximumBytes = 16 << 20
        /// The date, and the time of rests after faults.
        public var clock = RequestClock.system
        /// Receives faults at the level `debug`, and no names or contents of models.
        public var logger = Logger(label: "essentials.models", factory: { _ in SwiftLogNoOpLogHandler() })

        /// The default settings.
        public init() {}
    }

    /// Notifies observers of changes.
    public let changes = ModelChanges()
    private let access: CacheAccess?
    private let configuration: Configuration
    private let memory: Mutex<ModelMemory>
    private let ownProblems = Mutex(CacheProblems())
    private let hasLoggedMemoryOnly = Mutex(false)

    /// How often a model is read again that changes while it is read.
    private static let maximumReadings = 100

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - cache: The entity cache below. Without one the models are in memory only, and are gone when they are evicted.
    ///   - configuration: The settings.
    public init(over cache: (any EntityCache)? = nil, configuration: Configuration = Configuration()) {
        access = cache.map { CacheAccess($0, configuration.clock, configuration.logger) }
        self.configuration = configuration
        memory = Mutex(
            ModelMemory(maximumCount: configuration.maximumCount, maximumBytes: configuration.maximumBytes))
    }

    /// Creates a cache over the files of a directory; see ``FileEntityCache``.
    ///
    /// - Throws: The failures of ``FileEntityCache/init(directory:maximumBytes:)``.
    public convenience init(
        directory: String, maximumFileBytes: Int = 64 << 20, configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        let files = try FileEntityCache(directory: directory, maximumBytes: maximumFileBytes)
        self.init(over: files, configuration: configuration)
    }

    /// What has gone wrong. An entry that could not be decoded counts as one failed call.
    public var problems: CacheProblems {
        let own = ownProblems.withLock { $0 }
        return access.map { own.adding($0.problems) } ?? own
    }

    /// The number of decoded models in memory.
    public var count: Int { memory.withLock { $0.count } }
    /// The approximate size of the decoded models in memory.
    public var byteCount: Int { memory.withLock { $0.bytes } }

    // MARK: Saving

    /// Saves a model in place of the one that is there.
    ///
    /// - Throws: The error of the model's encoding. The earlier model stays then.
    public func save<Value: Codable & Sendable>(
        _ model: CachedModel<Value>, for key: ModelKey<Value>
    ) async throws {
        let slot = ModelSlot(key)
        let ticket = memory.withLock { $0.begin(slot) }
        let body: Data
        do {
            body = try await ModelCoding.encode(model.value)
        } catch {
            memory.withLock { $0.end(slot) }
            throw error
        }
        let entry = ModelMemory.Entry(model: TypedHeldModel(model), date: model.date)
        // The field says it also when the model is read again.
        let fields: HTTPFields = model.isMemoryOnly ? [.cacheControl: "no-store"] : [:]
        let entity = StoredEntity(
            body: body, mediaType: ModelCoding.mediaType, headerFields: fields, date: model.date)
        let entityKey = access == nil ? nil : EntityKey(key)
        let (counts, removed) = memory.withLock { memory -> (Bool, [ModelMemory.Entry]) in
            defer { memory.end(slot) }
            guard memory.claims(slot, ticket) else { return (false, []) }
            if let entityKey { add(entity, for: entityKey) }
            return (true, memory.insert(entry, for: slot, bytes: body.count))
        }
        withExtendedLifetime(removed) {}
        guard counts else { return }
        if model.isMemoryOnly, isPersistent { logMemoryOnly() }
        access?.work()
        changes.changed(slot)
    }

    /// Adds the change to those that wait. The order of the additions is that of the changes in memory, because both are
    /// made under the lock.
    private func add(_ entity: StoredEntity, for key: EntityKey) {
        guard !isPersistent || !CacheRules.forbidsStoring(entity.headerFields) else {
            access?.add(.remove, for: key)
            return
        }
        guard entity.byteCount <= WriteBehind.standardBytes else {
            // It would push out everything that waits and then itself, and leave an older model.
            ownProblems.withLock { $0.dropped += 1 }
            access?.add(.remove, for: key)
            return
        }
        access?.add(.store(entity), for: key)
    }

    // MARK: Loading

    /// The model under a key. From memory it takes no copy and no decoding.
    ///
    /// The function throws nothing. A fault of the entity cache is a miss, and is counted in ``problems``.
    public func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async -> CachedModel<Value>? {
        let slot = ModelSlot(key)
        if let entry = memory.withLock({ $0.use(slot) }) {
            guard let held = entry.model as? TypedHeldModel<Value>, isYoung(entry.date) else {
                removeIfExpired(entry, slot, key)
                return nil
            }
            return held.model
        }
        return access == nil ? nil : await read(key, slot)
    }

    /// What one reading of the entity cache has found.
    private enum Reading<Value: Sendable>: Sendable {
        case found(CachedModel<Value>)
        case missing
        /// The model was changed meanwhile and is not in memory.
        case outdated
    }

    /// Reads a model from the entity cache, and again if it was changed meanwhile, a few times.
    private func read<Value: Codable & Sendable>(
        _ key: ModelKey<Value>, _ slot: ModelSlot
    ) async -> CachedModel<Value>? {
        for _ in 0..<Self.maximumReadings {
            switch await readOnce(key, slot) {
            case .found(let model): return model
            case .missing: return nil
            case .outdated: continue
            }
        }
        return nil
    }

    private func readOnce<Value: Codable & Sendable>(_ key: ModelKey<Value>, _ slot: ModelSlot) async -> Reading<Value>
    {
        let entityKey = EntityKey(key)
        let ticket = memory.withLock { $0.begin(slot) }
        guard let access, let entity = await access.entity(for: entityKey) else {
            memory.withLock { $0.end(slot) }
            return .missing
        }
        guard isYoung(entity.date) else {
            end(slot, ticket, removing: isExpired(entity.date) ? entityKey : nil)
            return .missing
        }
        do {
            let model = CachedModel(
                try await ModelCoding.decode(Value.self, entity.body), date: entity.date,
                isMemoryOnly: CacheRules.forbidsStoring(entity.headerFields))
            return keep(model, slot, ticket, bytes: entity.body.count)
        } catch {
            failed(error)
            end(slot, ticket, removing: entityKey)
            return .missing
        }
    }

    /// Keeps what was read in memory. If there was a change meanwhile, that one counts.
    private func keep<Value: Sendable>(
        _ model: CachedModel<Value>, _ slot: ModelSlot, _ ticket: ModelMemory.Ticket, bytes: Int
    ) -> Reading<Value> {
        let entry = ModelMemory.Entry(model: TypedHeldModel(model), date: model.date)
        let (newer, removed) = memory.withLock { memory -> (ModelMemory.Entry?, [ModelMemory.Entry]) in
            defer { memory.end(slot) }
            guard memory.isUnchanged(slot, since: ticket) else { return (memory.use(slot), []) }
            return (entry, memory.insert(entry, for: slot, bytes: bytes))
        }
        withExtendedLifetime(removed) {}
        return (newer?.model as? TypedHeldModel<Value>).map { .found($0.model) } ?? .outdated
    }

    /// Ends a reading. Unless there was a change meanwhile, the entry is removed if the key is given.
    private func end(_ slot: ModelSlot, _ ticket: ModelMemory.Ticket, removing key: EntityKey?) {
        memory.withLock { memory in
            if let key, memory.isUnchanged(slot, since: ticket) { access?.add(.remove, for: key) }
            memory.end(slot)
        }
        access?.work()
    }

    /// Whether there is a model under a key that is not too old. Decoding it may still fail.
    public func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async -> Bool {
        if let entry = memory.withLock({ $0.use(ModelSlot(key)) }) { return isYoung(entry.date) }
        guard let access, let entity = await access.entity(for: EntityKey(key)) else { return false }
        return isYoung(entity.date)
    }

    // MARK: Deleting

    /// Deletes a model. It is not found any more when the function returns.
    public func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async {
        let slot = ModelSlot(key)
        let removed = memory.withLock { memory in
            access?.add(.remove, for: EntityKey(key))
            return memory.remove(slot)
        }
        withExtendedLifetime(removed) {}
        access?.work()
        changes.changed(slot)
    }

    /// Deletes all models, also in the entity cache, and nothing else there.
    ///
    /// - Throws: `file` if the entity cache could not delete them. They are not found any more, and the cache tries again in
    ///   the background.
    public func deleteAll() async throws(RequestFailure) { try await deleteAll(of: nil) }

    /// Deletes the models of a person or tenant, for example when they leave.
    ///
    /// - Throws: `file`, as ``deleteAll()``.
    public func deleteAll(of partition: EntityPartition) async throws(RequestFailure) {
        try await deleteAll(of: Optional(partition))
    }

    private func deleteAll(of partition: EntityPartition?) async throws(RequestFailure) {
        let scope = EntityScope(partition: partition, origin: EntityKey.modelOrigin)
        let isDone = await withCheckedContinuation { continuation in
            let removed = memory.withLock { memory in
                access?.addRemoval(of: scope, continuation)
                return memory.removeAll(of: partition)
            }
            withExtendedLifetime(removed) {}
            if let access { access.work() } else { continuation.resume(returning: true) }
            changes.changed(of: partition)
        }
        guard isDone else {
            throw RequestFailure(
                .file, "The models could not be deleted from the cache.",
                remedy: "The cache tries again in the background. See its problems for the error.")
        }
    }

    // MARK: Around it

    /// Waits until everything that was saved and deleted is written, for a program that ends. A rest after faults is ended.
    public func flush() async { await access?.flush() }

    /// Removes the decoded models that were used longest ago from memory, for a program that must free some. They are
    /// still found in the entity cache.
    ///
    /// - Parameter part: The part of the models that is removed, from 0 to 1. The default is all.
    public func trim(part: Double = 1) {
        let removed = memory.withLock { $0.trim(part: part) }
        withExtendedLifetime(removed) {}
    }

    /// Whether no operation has begun that has not ended.
    var isIdle: Bool { memory.withLock { $0.operationCount == 0 } }

    private func isYoung(_ date: Date) -> Bool {
        guard let maximum = configuration.maximumAge else { return true }
        return Duration.since(date, at: configuration.clock.date).map { $0 < maximum } ?? false
    }

    private func isExpired(_ date: Date) -> Bool {
        guard let maximum = configuration.maximumAge else { return false }
        return Duration.since(date, at: configuration.clock.date).map { $0 >= maximum } ?? false
    }

    /// Removes a model from memory and the entity cache because of its age, unless it was replaced.
    private func removeIfExpired<Value>(_ entry: ModelMemory.Entry, _ slot: ModelSlot, _ key: ModelKey<Value>) {
        guard isExpired(entry.date) else { return }
        let entityKey = access == nil ? nil : EntityKey(key)
        let removed = memory.withLock { memory -> ModelMemory.Entry? in
            guard memory.use(slot)?.model === entry.model else { return nil }
            if let entityKey { access?.add(.remove, for: entityKey) }
            return memory.remove(slot)
        }
        withExtendedLifetime(removed) {}
        access?.work()
    }

    private var isPersistent: Bool { access?.cache.isPersistent ?? false }

    /// Logs once that models are not written.
    private func logMemoryOnly() {
        let isFirst = hasLoggedMemoryOnly.withLock { hasLogged in
            defer { hasLogged = true }
            return !hasLogged
        }
        guard isFirst else { return }
        configuration.logger.debug(
            "Models are kept in memory only, because of no-store, or of credentials without a partition.",
            metadata: ["category": "cache"])
    }

    private func failed(_ error: any Error) {
        ownProblems.withLock { problems in
            problems.count += 1
            problems.last = "A model could not be decoded: \(type(of: error))"
        }
        configuration.logger.debug("A model in a cache could not be decoded.", metadata: ["category": "cache"])
    }
}

/// A model cache can join a data-request service, so that clearing the credentials also deletes the models:
///
/// ```swift
/// try requests.privateStateRegistry?.add(privateStateStore: cache)
/// ```
extension ModelCache: PrivateStateStore {
    /// Deletes all models, because their keys do not name an origin.
    public func clearPrivateState(of origin: Origin) async {
        // What fails is tried again in the background, and is counted.
        try? await deleteAll()
    }
}
