import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// The places of a resource's entity in its caches, as seen by one load or change.
struct CachePlaces: Sendable {
    /// The entity of one stage.
    struct Place: Sendable {
        let cache: StageCache
        let access: CacheAccess
        let key: EntityKey
        /// The key for entities that are received with credentials while no account is entered, so that the end of the
        /// credentials removes nothing else. It is `nil` if the account has a name, or if the cache stores no such
        /// entities.
        var credentialsKey: EntityKey?

        /// The keys under which the entity may be stored.
        var keys: [EntityKey] { [key] + (credentialsKey.map { [$0] } ?? []) }
    }

    /// The places from the first stage to the last.
    let places: [Place]
    /// When the operation began. An entity that was removed since is not stored.
    let begun = Epoch.now
    /// The environment and the credentials of the operation. After the end of the credentials it stores nothing.
    private let environment: AdoptedEnvironment
    /// Whether all requests have credentials, regardless of their header fields.
    private let isPersonal: Bool
    private let allowsSensitive: Bool

    init(_ places: [Place], in environment: AdoptedEnvironment, isPersonal: Bool, allowsSensitive: Bool) {
        (self.places, self.environment) = (places, environment)
        self.isPersonal = isPersonal
        self.allowsSensitive = allowsSensitive
    }

    /// The caches from the first stage to the last.
    var caches: [StageCache] { places.map(\.cache) }

    /// Removes the entity. This only adds to the pending changes, so it may be called under the lock of the resource.
    func removeEntities() { removals.add() }

    /// Renews the times and header fields of the entity; see ``removeEntities()``.
    ///
    /// - Parameter entity: The confirmed entity. If a cache holds another one, that one stays as it is.
    func confirm(_ entity: Entity, by fields: HTTPFields, date: Date, age: Duration) {
        var kept = EntityCacheRules.kept(fields)
        for name in HTTPFields.ofBody { kept[name] = nil }
        // A stored response without a date gets the date of its receipt (RFC 9110, 6.6.1). An older date would make the
        // time to `Expires` too long.
        if kept[.date] == nil, kept[.expires] != nil { kept[.date] = HTTPDate.text(of: date) }
        let confirmation = EntityConfirmation(
            headerFields: kept, date: date, age: age, entityTag: entity.entityTag, lastModified: entity.lastModified)
        changes(of: places) { _, _ in .revalidate(confirmation) }.add()
    }

    /// Begins to write the added changes. It must not be called under the lock of the resource.
    func work() {
        for place in places { place.access.work() }
    }

    /// The removal of the entity.
    var removals: CacheChanges { changes(of: places) { _, _ in .remove } }

    /// The changes that a response makes in the caches. Where it is not stored, the entity of an earlier response is
    /// removed, because it would otherwise be shown again.
    func changes(for response: LoadedResponse, _ service: HTTPResourceService) -> CacheChanges {
        let isPersonal = isPersonal || response.result.origin.isPersonal
        var storings: [LoadEvent.Storing] = []
        var changes = changes(of: places) { place, isOfCredentials in
            let output = response.result.outputs.first { $0.cache.stage == place.cache.stage }
            let isForOne = isPersonal || output.map { CacheDirectives(of: $0.headerFields).isPrivate } == true
            // It is stored under one of the two keys, if the cache stores it.
            guard isForOne == isOfCredentials || place.credentialsKey == nil else { return .remove }
            let stage = place.cache.stage.name
            do throws(LoadEvent.Storing.Refusal) {
                guard let output else { throw .unfit }
                let stored = try entity(of: output, in: response, place, isPersonal: isForOne, service)
                storings.append(LoadEvent.Storing(stage: stage, refusal: nil))
                return .store(stored)
            } catch {
                storings.append(LoadEvent.Storing(stage: stage, refusal: error))
                return .remove
            }
        }
        changes.storings = storings
        return changes
    }

    /// The changes that a hit makes in the caches of later stages. The times of the entity stay.
    ///
    /// - Parameter isOfCredentials: Whether the entity was received with credentials while no account was entered.
    func changes(
        for outputs: [StageCache.Output], of stored: StoredEntity, isOfCredentials: Bool
    ) -> CacheChanges {
        let later = places.filter { place in
            !place.cache.isNameless
                && outputs.contains { $0.cache.stage == place.cache.stage && $0.body != nil }
        }
        return changes(of: later) { place, isKeyOfCredentials in
            guard let output = outputs.first(where: { $0.cache.stage == place.cache.stage }), let body = output.body,
                isKeyOfCredentials == isOfCredentials || place.credentialsKey == nil
            else { return .remove }
            var entity = stored
            entity.body = body
            entity.mediaType = output.mediaType
            entity.headerFields = EntityCacheRules.kept(output.headerFields)
            return .store(entity)
        }
    }

    /// Makes the same kind of change for each key of some places.
    ///
    /// - Parameter change: Receives a place, and whether the key is that for entities that were received with
    ///   credentials.
    private func changes(
        of places: [Place], _ change: (Place, Bool) -> WriteBehind.Change
    ) -> CacheChanges {
        CacheChanges(
            changes: places.flatMap { place in
                place.keys.map { (place.access, $0, change(place, $0 == place.credentialsKey)) }
            }, environment: environment, begun: begun)
    }

    private func entity(
        of output: StageCache.Output, in response: LoadedResponse, _ place: Place, isPersonal: Bool,
        _ service: HTTPResourceService
    ) throws(LoadEvent.Storing.Refusal) -> StoredEntity {
        // If the content could not be encoded, it has another type than the cache stores.
        let refusal =
            output.body == nil
            ? .unfit
            : EntityCacheRules.refusal(
                ofStatus: output.status, output.headerFields, isPersonal: isPersonal, partition: place.key.partition,
                isPersistent: place.cache.cache.isPersistent, allowsSensitive: allowsSensitive)
        if refusal == .personal { service.caching.refusedPersonal() }
        guard !place.cache.isNameless else {
            place.access.cannotName(place.cache.type)
            throw .unnamed
        }
        guard refusal == nil, let body = output.body else { throw .init(refusal ?? .unfit) }
        return StoredEntity(
            body: body, mediaType: output.mediaType, status: output.status,
            headerFields: EntityCacheRules.kept(output.headerFields), date: response.entity.date,
            age: response.content.age)
    }
}

/// Changes of caches that are made if a response becomes the content.
struct CacheChanges: Sendable {
    let changes: [(access: CacheAccess, key: EntityKey, change: WriteBehind.Change)]
    /// The environment and the credentials of the operation.
    let environment: AdoptedEnvironment
    /// When the operation began.
    let begun: Epoch
    /// What becomes of the response in each cache.
    var storings: [LoadEvent.Storing] = []

    /// Adds the changes to the pending ones. After the end of the credentials only removals are added: an accepted
    /// write makes the entity outdated for every account, and an unnecessary removal only costs a load. It may be
    /// called under the lock of the resource, so that the changes have the same order as the contents.
    ///
    /// - Returns: Whether what is to be stored was added.
    @discardableResult
    func add() -> Bool {
        let hasEnded = environment.hasEnded
        for (access, key, change) in changes where !hasEnded || change == .remove {
            access.add(change, for: key, since: begun)
        }
        return !hasEnded
    }

    /// Begins to write the changes.
    func work() {
        for (access, _, _) in changes { access.work() }
    }
}
