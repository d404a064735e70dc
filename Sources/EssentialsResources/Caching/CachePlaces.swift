import EssentialsHTTP
import FoundationEssentials

/// Where the entity of a resource is in its caches, as seen by one load or change.
struct CachePlaces: Sendable {
    /// The entity of one stage.
    struct Place: Sendable {
        let cache: StageCache
        let access: CacheAccess
        let key: EntityKey
    }

    /// The places from the first stage to the last.
    let places: [Place]
    /// Whether all requests have credentials, whatever their header fields are.
    private let isPersonal: Bool
    private let allowsSensitive: Bool

    init(_ places: [Place], isPersonal: Bool, allowsSensitive: Bool) {
        self.places = places
        self.isPersonal = isPersonal
        self.allowsSensitive = allowsSensitive
    }

    /// The caches from the first stage to the last.
    var caches: [StageCache] { places.map(\.cache) }

    /// Removes the entity. This only adds to what waits, so it may be called under the lock of the resource.
    func removeEntities() {
        for place in places { place.access.add(.remove, for: place.key) }
    }

    /// Renews the times and header fields of the entity; see ``removeEntities()``.
    func confirmEntities(by fields: HTTPFields, date: Date, age: Duration) {
        var kept = CacheRules.kept(fields)
        for name in Entity.ofBody { kept[name] = nil }
        // A stored response without a date has that of its receipt (RFC 9110, 6.6.1). An older one would make the time
        // to `Expires` longer than it is.
        if kept[.date] == nil, kept[.expires] != nil { kept[.date] = HTTPDate.text(of: date) }
        let confirmation = EntityConfirmation(headerFields: kept, date: date, age: age)
        for place in places { place.access.add(.revalidate(confirmation), for: place.key) }
    }

    /// Begins to write what was added. It must not be called under the lock of the resource.
    func work() {
        for place in places { place.access.work() }
    }

    /// The removal of the entity.
    var removals: CacheChanges { CacheChanges(changes: places.map { ($0, .remove) }) }

    /// What a response changes in the caches. Where it is not stored, the entity of an earlier one is removed, because it
    /// would come back.
    func changes(for response: LoadedResponse, _ service: HTTPResourceService) -> CacheChanges {
        CacheChanges(
            changes: places.map { place in
                let output = response.result.outputs.first { $0.cache.stage == place.cache.stage }
                let stored = output.flatMap { entity(of: $0, in: response, place, service) }
                return (place, stored.map { .store($0) } ?? .remove)
            })
    }

    /// What a hit changes in the caches of later stages. Its times stay.
    func changes(
        for outputs: [StageCache.Output], of stored: StoredEntity, _ service: HTTPResourceService
    ) -> CacheChanges {
        CacheChanges(
            changes: outputs.compactMap { output in
                guard let place = places.first(where: { $0.cache.stage == output.cache.stage }),
                    let body = output.body, !place.cache.isNameless
                else { return nil }
                var entity = stored
                entity.body = body
                entity.mediaType = output.mediaType
                entity.headerFields = CacheRules.kept(output.headerFields)
                return (place, .store(entity))
            })
    }

    private func entity(
        of output: StageCache.Output, in response: LoadedResponse, _ place: Place, _ service: HTTPResourceService
    ) -> StoredEntity? {
        let refusal = CacheRules.refusal(
            of: output, isPersonal: isPersonal || response.result.origin.isPersonal, partition: place.key.partition,
            isPersistent: place.cache.cache.isPersistent, allowsSensitive: allowsSensitive)
        if refusal == .personal { service.caching.refusedPersonal() }
        guard !place.cache.isNameless else {
            place.access.cannotName(place.cache.type)
            return nil
        }
        guard refusal == nil, let body = output.body else { return nil }
        return StoredEntity(
            body: body, mediaType: output.mediaType, status: output.status,
            headerFields: CacheRules.kept(output.headerFields), date: response.entity.date,
            age: response.content.age)
    }
}

/// Changes of caches that are made if a response becomes the content.
struct CacheChanges: Sendable {
    let changes: [(place: CachePlaces.Place, change: WriteBehind.Change)]

    /// Adds them to what waits. It may be called under the lock of the resource, so that their order is that of the
    /// contents.
    func add() {
        for (place, change) in changes { place.access.add(change, for: place.key) }
    }

    /// Begins to write them.
    func work() {
        for (place, _) in changes { place.access.work() }
    }
}
