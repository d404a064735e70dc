public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools
import FoundationEssentials
public import Logging

/// The default model cache: decoded models in memory, and their encodings in an entity cache below.
///
/// ```swift
/// let files = try FileEntityCache(directory: "/var/cache/shop")
/// let service = CoinService(requests: requests, cache: ModelCache(over: files))
/// ```
///
/// The entity cache can be a `FileEntityCache`, a `SealedEntityCache`, a `MemoryEntityCache` or your own. It can also
/// be the cache of an `HTTPResourceService`: models and resources then share its size, and neither finds or deletes
/// entries of the other. Use only one model cache for a directory in a process, because another one would not notice
/// its changes in memory.
///
/// A model from memory is the value that was saved. A model from the entity cache was encoded as JSON and decoded
/// again. Models are encoded outside all actors, and large ones are decoded there too. A save returns when the model
/// can be found. It is written in the background (see ``flush()``), up to 1,000 models and 16 MiB at a time. A failure
/// of the background work ends no fetch and is counted in ``problems``. All functions can be called from any task. If
/// two changes of one key overlap, the one that began later holds.
///
/// A model that is ``CachedModel/isMemoryOnly`` is kept in memory, and in an entity cache that is not persistent.
/// Saving it removes the earlier model from a persistent entity cache, so the model is gone when it leaves memory.
///
/// The cache joins the data-request services of the ``ModelCaching`` services that use it. A logout then removes the
/// models that were fetched with credentials and without a partition; see ``clearPrivateState(of:)``.
///
/// A model that cannot be decoded, because its type has changed without a new ``ModelKey/schema``, is a miss and is
/// removed. So is a damaged entry.
public final class ModelCache: ObservableCache {
    /// The settings of a cache.
    ///
    /// ```swift
    /// var configuration = ModelCache.Configuration()
    /// configuration.maximumAge = .seconds(7 * 86_400)
    /// ```
    public struct Configuration: Sendable {
        /// The age from which a model is a miss and is removed. The default `nil` means that there is no maximum age.
        /// With a maximum age, a model whose date lies in the future, because the clock was set back, is a miss too,
        /// but stays.
        public var maximumAge: Duration?
        /// The maximum number of decoded models in memory. The default is 1,000.
        public var maximumCount = 1_000
        /// The maximum size of the decoded models in memory, measured by their encodings. The default is 16 MiB. A
        /// larger model is found in the entity cache only.
        public var maximumBytes = 16 << 20
        /// The clock for dates, and for pauses after faults.
        public var clock = RequestClock.system
        /// Receives faults at debug level, without names or contents of models.
        public var logger = Logger(label: "essentials.models", factory: { _ in SwiftLogNoOpLogHandler() })

        /// The default settings.
        public init() {}
    }

    /// Notifies observers of changes.
    public let changes = ModelCacheChanges()
    let access: CacheAccess?
    private let configuration: Configuration
    let memory: Mutex<ModelMemory>
    /// The services whose logout removes models from this cache.
    let membership = ModelMembership()
    /// The problems that are not those of the entity cache.
    let ownProblems: CacheProblemLog
    private let hasLoggedMemoryOnly = Mutex(false)
    private let hasLoggedMissingList = Mutex(false)

    /// How often a model is read again if it changes while it is read.
    private static let maximumReadings = 100

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - cache: The entity cache below. Without one, the models are in memory only, and are gone when they are
    ///     evicted.
    ///   - configuration: The settings.
    public init(over cache: (any EntityCache)? = nil, configuration: Configuration = Configuration()) {
        access = cache.map { CacheAccess($0, configuration.clock, configuration.logger) }
        self.configuration = configuration
        ownProblems = CacheProblemLog(logger: configuration.logger)
        memory = Mutex(
            ModelMemory(maximumCount: configuration.maximumCount, maximumBytes: configuration.maximumBytes))
    }

    /// Creates a cache over the files of a directory; see `FileEntityCache`.
    ///
    /// - Throws: The failures of `FileEntityCache.init(directory:maximumBytes:)`.
    public convenience init(
        directory: String, maximumFileBytes: Int = 64 << 20, configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        let files = try FileEntityCache(directory: directory, maximumBytes: maximumFileBytes)
        self.init(over: files, configuration: configuration)
    }

    /// The key of the entity cache below, or a key of this process if there is no entity cache.
    public var fingerprintKey: FingerprintKey { access?.cache.fingerprintKey ?? .process }

    /// The problems of the cache. An entry that could not be decoded counts as one failed call.
    public var problems: CacheProblems {
        access.map { ownProblems.current.adding($0.problems) } ?? ownProblems.current
    }

    /// The number of decoded models in memory.
    public var count: Int { memory.withLock { $0.count } }
    /// The approximate size of the decoded models in memory.
    public var byteCount: Int { memory.withLock { $0.bytes } }

    // MARK: Saving

    /// Saves a model in place of the existing one.
    ///
    /// - Throws: The error of the model's encoding. The earlier model then stays.
    public func save<Value: Codable & Sendable>(
        _ model: CachedModel<Value>, for key: ModelKey<Value>
    ) async throws {
        let slot = ModelSlot(key)
        let (begun, provenance) = (model.provenance?.begun ?? .now, model.provenance)
        let ticket = memory.withLock { $0.begin(slot) }
        let body: Data
        do {
            body = try await ModelCoding.encode(model.value)
        } catch {
            memory.withLock { $0.end(slot) }
            throw error
        }
        let credentials = key.partition.isShared ? provenance?.credentials : nil
        var kept = model
        kept.provenance = nil
        let entry = ModelMemory.Entry(
            model: ModelBox(kept), date: model.date, credentials: credentials, provenance: provenance)
        // This field has the same effect when the model is read again.
        let fields: HTTPFields = model.isMemoryOnly ? [.cacheControl: "no-store"] : [:]
        let entity = StoredEntity(
            body: body, mediaType: ModelCoding.mediaType, headerFields: fields, date: model.date)
        let places = places(of: key, with: credentials)
        let (counts, removed) = memory.withLock { memory -> (Bool, [ModelMemory.Entry]) in
            defer { memory.end(slot) }
            // An operation that began before a logout or a removal stores nothing after it.
            guard provenance?.hasEnded != true, !memory.forbids(key.partition, credentials, since: begun),
                memory.claims(slot, ticket)
            else { return (false, []) }
            for place in places {
                if place.credentials == credentials {
                    add(entity, for: place.key)
                } else if place.credentials.map({ memory.mayHold(credentials: $0) }) ?? true {
                    access?.add(.remove, for: place.key)
                }
            }
            if let credentials { memory.note(credentials: credentials) }
            return (true, memory.insert(entry, for: slot, bytes: body.count))
        }
        withExtendedLifetime(removed) {}
        guard counts else { return }
        if model.isMemoryOnly, isPersistent { logMemoryOnly() }
        access?.work()
        changes.changed(slot)
    }

    /// Adds the change to the pending ones. The additions have the same order as the changes in memory, because both
    /// are made under the lock.
    private func add(_ entity: StoredEntity, for key: EntityKey) {
        guard !isPersistent || !EntityCacheRules.forbidsStoring(entity.headerFields) else {
            access?.add(.remove, for: key)
            return
        }
        guard entity.byteCount <= WriteBehind.standardBytes else {
            // It would displace all pending changes and then itself, and leave an older model.
            ownProblems.addDropped()
            access?.add(.remove, for: key)
            return
        }
        access?.add(.store(entity), for: key)
    }

    // MARK: Loading

    /// Returns the model under a key. A model from memory is neither copied nor decoded.
    ///
    /// The function does not throw. A fault of the entity cache is a miss, and is counted in ``problems``.
    public func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async -> CachedModel<Value>? {
        let slot = ModelSlot(key)
        if let entry = memory.withLock({ $0.use(slot) }) {
            guard !entry.isHidden else { return nil }
            guard let held = entry.model as? ModelBox<CachedModel<Value>>, isYoung(entry.date) else {
                removeIfExpired(entry, slot, key)
                return nil
            }
            return held.value
        }
        return access == nil ? nil : await read(key, slot)
    }

    /// Reads a model from the entity cache. If it was changed meanwhile, it is read again, for a limited number of
    /// times.
    private func read<Value: Codable & Sendable>(
        _ key: ModelKey<Value>, _ slot: ModelSlot
    ) async -> CachedModel<Value>? {
        for _ in 0..<Self.maximumReadings {
            let ticket = memory.withLock { $0.begin(slot) }
            guard let (entity, place) = await entity(for: key) else {
                memory.withLock { $0.end(slot) }
                return nil
            }
            guard isYoung(entity.date) else {
                end(slot, ticket, removing: isExpired(entity.date) ? place.key : nil)
                return nil
            }
            do {
                let model = CachedModel(
                    try await ModelCoding.decode(Value.self, entity.body), date: entity.date,
                    isMemoryOnly: EntityCacheRules.forbidsStoring(entity.headerFields))
                if let kept = keep(model, place.credentials, slot, ticket, bytes: entity.body.count) { return kept }
            } catch {
                ownProblems.add("A model could not be decoded: \(type(of: error))", "load")
                end(slot, ticket, removing: place.key)
                return nil
            }
        }
        return nil
    }

    /// The entity that the entity cache holds for a key, and its place; `nil` if there is none.
    private func entity<Value>(for key: ModelKey<Value>) async -> (StoredEntity, ModelPlace)? {
        guard let access else { return nil }
        for place in places(of: key) {
            if let entity = await access.entity(for: place.key) { return (entity, place) }
        }
        return nil
    }

    /// Keeps the model that was read in memory. If there was a change meanwhile, the changed model counts; `nil` if it
    /// is not in memory.
    private func keep<Value: Sendable>(
        _ model: CachedModel<Value>, _ credentials: Origin?, _ slot: ModelSlot, _ ticket: ModelMemory.Ticket,
        bytes: Int
    ) -> CachedModel<Value>? {
        let entry = ModelMemory.Entry(model: ModelBox(model), date: model.date, credentials: credentials)
        let (newer, removed) = memory.withLock { memory -> (ModelMemory.Entry?, [ModelMemory.Entry]) in
            defer { memory.end(slot) }
            guard memory.isUnchanged(slot, since: ticket) else { return (memory.use(slot), []) }
            if let credentials { memory.note(credentials: credentials) }
            return (entry, memory.insert(entry, for: slot, bytes: bytes))
        }
        withExtendedLifetime(removed) {}
        return (newer?.model as? ModelBox<CachedModel<Value>>)?.value
    }

    /// Ends a read. If a key is given, its entry is removed, unless there was a change meanwhile.
    private func end(_ slot: ModelSlot, _ ticket: ModelMemory.Ticket, removing key: EntityKey?) {
        memory.withLock { memory in
            if let key, memory.isUnchanged(slot, since: ticket) { access?.add(.remove, for: key) }
            memory.end(slot)
        }
        access?.work()
    }

    /// Whether there is a model under a key that is not too old. Decoding it may still fail.
    public func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async -> Bool {
        if let entry = memory.withLock({ $0.use(ModelSlot(key)) }) { return isYoung(entry.date) && !entry.isHidden }
        guard let (entity, _) = await entity(for: key) else { return false }
        return isYoung(entity.date)
    }

    // MARK: Deleting

    /// Deletes a model. It is not found any more when the function returns.
    public func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async {
        let slot = ModelSlot(key)
        let places = places(of: key)
        let removed = memory.withLock { memory in
            for place in places { access?.add(.remove, for: place.key) }
            return memory.remove(slot)
        }
        withExtendedLifetime(removed) {}
        access?.work()
        changes.changed(slot)
    }

    /// Deletes all models, also in the entity cache, where other entries stay.
    ///
    /// - Throws: `file` if the entity cache could not delete them, or takes longer than five seconds. They are not
    ///   found any more, and the cache continues in the background.
    public func deleteAll() async throws(RequestFailure) { try await deleteAll(of: nil) }

    /// Deletes the models of an account, for example after a logout.
    ///
    /// - Throws: `file`, like ``deleteAll()``.
    public func deleteAll(of partition: EntityPartition) async throws(RequestFailure) {
        try await deleteAll(of: Optional(partition))
    }

    private func deleteAll(of partition: EntityPartition?) async throws(RequestFailure) {
        var scope = EntityScope(partition: partition, origin: EntityKey.modelOrigin)
        if partition?.isShared == true {
            // This includes models that were received with credentials.
            scope = EntityScope(origin: EntityKey.modelOrigin) { $0.partition.isShared || $0.partition.isOfCredentials }
        }
        let removal = entityRemoval()
        membership.separateRequests()
        let removed = memory.withLock { memory in
            access?.addRemoval(of: scope) { removal.end(isDone: $0) }
            return memory.removeAll(of: partition)
        }
        withExtendedLifetime(removed) {}
        access?.work()
        changes.changed(of: partition)
        guard await removal.isDone() else {
            throw RequestFailure(
                .file, "The cache has failed to delete the models, or has not done so within five seconds.",
                remedy: "The cache tries again in the background. See its problems for the error.")
        }
    }

    /// The removal of a scope by the entity cache. Callers wait for it only for a limited time.
    func entityRemoval() -> EntityRemoval { EntityRemoval(access == nil ? 0 : 1, configuration.clock) }

    // MARK: Maintenance

    /// Waits until all saves and deletions are written, for a program that ends. It also ends a pause after faults.
    public func flush() async { await access?.flush() }

    /// Removes the decoded models that were used longest ago from memory, for a program that must free some. They are
    /// still found in the entity cache.
    ///
    /// - Parameter part: The part of the models that is removed, from 0 to 1. The default is all.
    public func trim(part: Double = 1) {
        let removed = memory.withLock { $0.trim(part: part) }
        withExtendedLifetime(removed) {}
    }

    /// Whether every operation that has begun has also ended.
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
        let places = places(of: key)
        let removed = memory.withLock { memory -> ModelMemory.Entry? in
            guard memory.use(slot)?.model === entry.model else { return nil }
            for place in places { access?.add(.remove, for: place.key) }
            return memory.remove(slot)
        }
        withExtendedLifetime(removed) {}
        access?.work()
    }

    /// The places where the entity cache may hold the model of a key: first the place of the key, then the places for
    /// the credentials of origins. There is no place if the type has another name at the next start of the program.
    private func places<Value>(of key: ModelKey<Value>, with credentials: Origin? = nil) -> [ModelPlace] {
        guard let access else { return [] }
        let name = TypeName(Value.self)
        guard name.isLasting || !isPersistent else {
            access.cannotName(name.text)
            return []
        }
        let own = EntityKey(key)
        guard key.partition.isShared else { return [ModelPlace(key: own)] }
        var origins = membership.origins(of: key.environment)
        if let credentials, !origins.contains(credentials) { origins.append(credentials) }
        return [ModelPlace(key: own)] + origins.map { ModelPlace(key: own.ofCredentials($0), credentials: $0) }
    }

    private var isPersistent: Bool { access?.cache.isPersistent ?? false }

    /// Logs once that models are not written.
    private func logMemoryOnly() {
        log(
            "Models are kept in memory only, because of no-store, or of credentials without a partition.",
            unless: hasLoggedMemoryOnly)
    }

    /// Logs once that no list is stored for a path.
    func logMissingList() {
        log(
            "No list is stored for a path. One that was fetched by a definition is found by the definition only.",
            unless: hasLoggedMissingList)
    }

    private func log(_ message: Logger.Message, unless flag: borrowing Mutex<Bool>) {
        let isFirst = flag.withLock { hasLogged in
            defer { hasLogged = true }
            return !hasLogged
        }
        if isFirst { configuration.logger.debug(message, metadata: ["category": "cache"]) }
    }
}
