import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

extension HTTPResourceService {
    /// The problems of the entity caches since the service was created. No load has failed because of them.
    public var cacheProblems: CacheProblems { caching.problems }

    /// Whether the entity of a resource with a configuration may be in a cache.
    func usesCaches(_ configuration: EffectiveConfiguration) -> Bool { !configuration.caches.isEmpty && !isClosed }

    /// The places of a resource's entity in its caches, in the current environment and partition.
    func cachePlaces(of core: ResourceCore) -> CachePlaces? {
        let configuration = effective(for: core)
        guard usesCaches(configuration) else { return nil }
        return cachePlaces(of: core, configuration, in: adoptEnvironment())
    }

    /// The places of a resource's entity in its caches. It is `nil` if the resource has no caches, if the environment
    /// is no longer in use, or if its account is suspended.
    func cachePlaces(
        of core: ResourceCore, _ configuration: EffectiveConfiguration, in environment: AdoptedEnvironment
    ) -> CachePlaces? {
        guard !configuration.caches.isEmpty else { return nil }
        let address = core.address
        // The environment is compared after the address was read, so the address belongs to this environment.
        guard address.failure == nil, adoption.isAdopted(environment), environment.admitsEntities else { return nil }
        let allowsSensitive = configuration.values.storesSensitiveResponses
        let variant = core.variant.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
        var key = EntityKey(
            url: address.text, variant: variant.joined(separator: "\n"), stage: PipelineStage.raw.name,
            partition: environment.partition,
            trust: self.configuration.trustFingerprint + environment.identity.trustFingerprint)
        let origin = environment.partition.isShared ? try? table.base.requestURL(of: address).origin : nil
        let places = configuration.caches.map { cache in
            (key.stage, key.type, key.schema) = (cache.stage.name, cache.type, cache.schema)
            key.environment = environment.identity.text(
                environment.snapshot.name, key: cache.cache.fingerprintKey)
            var place = CachePlaces.Place(cache: cache, access: caching.access(to: cache.cache), key: key)
            if let origin, allowsSensitive || !cache.cache.isPersistent {
                var other = key
                other.partition = .credentials(of: origin)
                place.credentialsKey = other
            }
            return place
        }
        // A client certificate and a secret in the query are credentials too.
        let isPersonal =
            environment.snapshot.trust?.identity != nil || EntityCacheRules.hasSecrets(query: address.query)
        return CachePlaces(places, in: environment, isPersonal: isPersonal, allowsSensitive: allowsSensitive)
    }

    // MARK: Reading

    /// Reads the caches of a resource, unless they were already read, and waits for their entity for a short time.
    func readCaches(
        of core: ResourceCore, _ configuration: EffectiveConfiguration, in environment: AdoptedEnvironment
    ) async {
        guard let (read, isNew) = core.joinCacheRead() else { return }
        if isNew { start(read, of: core, configuration, in: environment) }
        await read.wait(clock)
    }

    /// Reads the caches of a resource that has an observer, unless they were already read.
    func readCachesForObserver(of core: ResourceCore) {
        guard core.mayReadCaches else { return }
        let environment = adoptEnvironment()
        let configuration = effective(for: core)
        guard usesCaches(configuration), let (read, isNew) = core.joinCacheRead(), isNew else { return }
        start(read, of: core, configuration, in: environment)
    }

    /// The task begins on the caller's thread, so a cache in memory is read without a thread switch.
    private func start(
        _ read: CacheRead, of core: ResourceCore, _ configuration: EffectiveConfiguration,
        in environment: AdoptedEnvironment
    ) {
        Task.immediate {
            if let places = cachePlaces(of: core, configuration, in: environment) {
                await show(places, of: core, configuration, read)
            }
            core.endCacheRead(read)
        }
    }

    /// Shows the first entity that is found, searching from the last stage to the first.
    private func show(
        _ places: CachePlaces, of core: ResourceCore, _ configuration: EffectiveConfiguration, _ read: CacheRead
    ) async {
        for place in places.places.reversed() {
            for key in place.keys {
                guard let stored = await place.access.entity(for: key) else { continue }
                if let result = await content(of: stored, place, places, configuration.values.pipeline) {
                    let changes = places.changes(
                        for: result.outputs, of: stored, isOfCredentials: key == place.credentialsKey)
                    let cached = CachedContent(
                        result.value, stored, at: place.cache.stage, changes, configuration.freshness, self)
                    guard core.show(cached, read, self) == .unreadable else { return }
                }
                // The entity cannot be read any more, because the program has changed or the entity is damaged.
                place.access.add(.remove, for: key)
                place.access.work()
            }
        }
    }

    /// Runs the stages that follow the entity's stage; `nil` if this fails.
    private func content(
        of stored: StoredEntity, _ place: CachePlaces.Place, _ places: CachePlaces, _ pipeline: ResourcePipeline
    ) async -> PipelineResult? {
        guard let content = try? place.cache.decode(stored.body) else { return nil }
        let isBytes = place.cache.type == EntityKey.bytesType
        let value = LoadedValue(
            body: isBytes ? stored.body : nil, value: isBytes ? nil : content, contentType: stored.mediaType,
            head: HTTPResponse(status: .init(code: stored.status), headerFields: stored.headerFields))
        if pipeline.isEmpty {
            let later = places.caches.drop { $0.stage != place.cache.stage }.dropFirst()
            return PipelineResult(value: value, outputs: later.map { $0.output(of: value) })
        }
        return try? await pipeline.resume(with: value, after: place.cache.stage, codecs, caches: places.caches)
    }
}

/// Whether the caches of a resource were read for its entity.
enum CacheReading: UInt8, Sendable {
    case notBegun, running, ended
}

/// One read of a resource's caches. Loads wait for it for a short time.
final class CacheRead: Sendable {
    /// How long a load waits for an entity before it goes to the network.
    static let patience = Duration.milliseconds(250)

    private let ended = OneShot<Void>()

    /// Ends the read, with an entity or without one.
    func end() { ended.provide(()) }

    /// Waits for the end, at most for ``patience``, or until the task is cancelled.
    func wait(_ clock: RequestClock) async {
        _ = await ended.valueUnlessCancelled { _ = try? await clock.sleep(for: Self.patience) }
    }
}
