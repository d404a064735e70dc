import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// How a response has reached a resource.
enum ResponseArrival {
    /// A load has received it.
    case load(Load)
    /// The response cache has received it, to replace the stale response that a load with this number has shown.
    case update(since: UInt64)

    /// The load; `nil` if there is none.
    var load: Load? {
        if case .load(let load) = self { load } else { nil }
    }
}

/// Content that a change of the state sets, and the responses to loads.
extension CoreState {
    /// The snapshot of a content type; `nil` if the type was not requested yet.
    func snapshot<Content: Sendable>(of type: Content.Type) -> ResourceSnapshot<Content>? {
        views.snapshot(of: type)
    }

    // MARK: Layers

    /// The server's content of all views, and the layers.
    var layered: LayeredContent {
        guard let state = writing?.state else {
            return LayeredContent(layers: [], server: views.compactMap(\.snapshot.projection))
        }
        return LayeredContent(layers: state.layers, server: views.compactMap { server(of: $0, state) })
    }

    /// The layers without the content.
    var layers: [OptimisticLayer] { writing?.state.layers ?? [] }

    /// The server's content of one type; `nil` if there is none.
    func serverContent<Content: Sendable>(of type: Content.Type) -> Content? {
        let contentType = ObjectIdentifier(type)
        guard let view = views.first(where: { $0.contentType == contentType }) else { return nil }
        guard let state = writing?.state else { return snapshot(of: type)?.content }
        return try? (server(of: view, state) as? Projection<Content>)?.result.get()
    }

    private func server(of view: ResourceView, _ state: WritingState) -> (any AnyProjection)? {
        if let below = state.server.first(where: { $0.contentType == view.contentType }) { return below.projection }
        return view.snapshot.projection
    }

    /// The number of layers in the content of a type.
    func pendingLayers(of contentType: ObjectIdentifier) -> UInt8 {
        guard let state = writing?.state else { return 0 }
        return UInt8(clamping: state.layers.count { $0.contentType == contentType })
    }

    /// Whether the layers have not changed.
    func hasLayers(_ known: [OptimisticLayer]) -> Bool {
        guard let state = writing?.state else { return known.isEmpty }
        return state.layers.elementsEqual(known) { $0.number == $1.number }
    }

    /// Replaces the content of all views.
    ///
    /// - Parameters:
    ///   - content: The server's content, and the layers.
    ///   - shown: The result of the layers, which was computed outside the lock.
    ///   - event: The event for the observers.
    ///   - change: Changes the facts that all views share.
    mutating func replace(
        _ content: LayeredContent, shown: [any AnyProjection], _ event: ResourceEvent,
        _ change: (inout ResourceFacts) -> Void
    ) {
        if writing != nil || !content.layers.isEmpty { writes.set(content) }
        self.change(event, content: .replace(shown), change)
    }

    // MARK: Content

    /// Sets the content without a request.
    ///
    /// - Parameters:
    ///   - value: The content.
    ///   - content: The content for all views, and the layers.
    ///   - shown: The content with the layers.
    ///   - entity: The entity; `nil` keeps the media type and the header fields. If there is no media type, it becomes
    ///     `application/octet-stream`.
    ///   - provenance: Where the content comes from.
    mutating func set(
        _ value: LoadedValue, _ content: LayeredContent, _ shown: [any AnyProjection], entity: Entity?,
        provenance: Provenance = .local, _ now: Duration, _ freshness: FreshnessRules, _ service: HTTPResourceService
    ) {
        machine.override()
        let entity =
            entity
            ?? Entity(
                mediaType: facts.entity?.mediaType ?? .octetStream, headerFields: facts.entity?.headerFields ?? [:],
                date: service.clock.date)
        var value = value
        value.contentType = entity.mediaType?.description
        value.head.headerFields = entity.headerFields
        kept = KeptValue(value)
        let freshUntil = freshness.deadline(of: .content(.init(time: now)))
        replace(content, shown: shown, .newContent(provenance)) { facts in
            (facts.entity, facts.provenance, facts.isOfServer) = (entity, provenance, false)
            facts.confirm(at: now, freshUntil, isInvalid: false)
        }
    }

    /// Makes a response the content, unless something newer has changed it, and ends its load.
    ///
    /// - Parameters:
    ///   - content: The content for all views, and the layers.
    ///   - shown: The content with the layers.
    ///   - isOwn: Whether the request was a GET of this resource, and not a caller's own request.
    ///   - changes: The changes of the caches if the response becomes the content.
    mutating func commit(
        _ response: LoadedResponse, _ content: LayeredContent, _ shown: [any AnyProjection], isOwn: Bool,
        _ changes: CacheChanges?, _ arrival: ResponseArrival
    ) -> ResourceMachine.Verdict {
        let origin = response.result.origin
        let verdict = end(arrival, origin.identity, as: .loaded)
        guard verdict == .commits else { return verdict }
        let isStoring = changes?.add() ?? false
        kept = KeptValue(response.result.value.kept)
        let (isInvalid, provenance) = (machine.isInvalid, Provenance(of: origin.storedUse))
        replace(content, shown: shown, .newContent(provenance)) { facts in
            (facts.entity, facts.provenance, facts.isOfServer) = (response.entity, provenance, isOwn)
            let age = origin.storedUse?.age ?? .zero
            facts.confirm(at: response.content.time - age, response.freshUntil, isInvalid: isInvalid)
        }
        if isReported, let changes {
            for storing in changes.storings { report(.stored(isStoring ? storing : storing.refused(.ended))) }
        }
        let version = facts.contentVersion
        knownBody = origin.identity.map { KnownBody(body: $0.body, contentVersion: version) }
        return verdict
    }

    /// Records a response that says that the content has not changed, and ends its load.
    ///
    /// - Returns: The verdict; `nil` if the response confirms something other than the current content, so that the
    ///   load continues.
    mutating func confirm(
        _ confirmation: ResourceExchange.Confirmation, _ rules: FreshnessRules, at now: Duration, _ date: Date,
        _ places: CachePlaces?, _ arrival: ResponseArrival
    ) -> ResourceMachine.Verdict? {
        let (fields, origin) = (confirmation.headerFields, confirmation.origin)
        guard let entity = facts.entity, isConfirmed(by: confirmation) else {
            // A stored response that is older than the content is superseded, and need not be requested again.
            guard let identity = origin.identity, identity.load < machine.response else { return nil }
            return end(arrival, identity, as: .superseded)
        }
        let verdict = end(arrival, origin.identity, as: .confirmed)
        guard verdict == .commits else { return verdict }
        let renewed = entity.revalidated(by: fields, date: date)
        let content = rules.content(with: renewed.headerFields, confirmedBy: fields, origin, at: now, date)
        let isInvalid = machine.isInvalid
        places?.confirm(entity, by: fields, date: date, age: content.age)
        // The response of a cache is a complete one, so it determines where the content comes from.
        let provenance = origin.identity.map { _ in Provenance(of: origin.storedUse) }
        let event = arrival.load == nil ? provenance.map { ResourceEvent.newContent($0) } : nil
        change(event ?? .notModified) { facts in
            facts.entity = renewed
            facts.provenance = provenance ?? facts.provenance
            let age = origin.storedUse?.age ?? .zero
            facts.confirm(at: now - age, rules.deadline(of: .content(content)), isInvalid: isInvalid)
        }
        return verdict
    }

    /// Ends a load with its response, or records a response that came without a load. If it does not count, the
    /// observers receive `superseded` for the load.
    private mutating func end(
        _ arrival: ResponseArrival, _ identity: ResponseIdentity?, as outcome: LoadEvent.Outcome
    ) -> ResourceMachine.Verdict {
        let response = identity?.load ?? 0
        switch arrival {
        case .update(let number): return machine.update(since: number, response: response)
        case .load(let load):
            let verdict = machine.end(load.number, response: response)
            if verdict != .unknown {
                removeLoads(as: verdict == .commits ? outcome : .superseded) { $0 === load }
            }
            if verdict == .superseded { change(.superseded) }
            return verdict
        }
    }

    /// Ends a load with a failure. A missing stored response is a failure that says nothing about the server, so
    /// freshness and an invalidation stay.
    mutating func fail(_ load: Load, _ failure: RequestFailure, at now: Duration, freshUntil: Duration?) {
        let asked = failure.reason != .notCached
        let verdict = asked ? machine.end(load.number) : machine.miss(load.number)
        guard verdict != .unknown else { return }
        removeLoads(as: verdict == .commits ? .failed(failure) : .superseded) { $0 === load }
        let isInvalid = machine.isInvalid
        change(verdict == .commits ? .failed(failure) : .superseded) { facts in
            guard verdict == .commits else { return }
            (facts.failure, facts.failureTime) = (failure, now)
            guard asked else { return }
            facts.isInvalid = isInvalid
            facts.freshUntil = isInvalid ? nil : freshUntil
        }
    }

    /// Shows a cached entity. Loads for which it is sufficient end.
    ///
    /// - Returns: The ended loads.
    mutating func show(
        _ cached: CachedContent, _ content: LayeredContent, _ shown: [any AnyProjection], at now: Duration
    ) -> [Load] {
        let (isInvalid, freshUntil) = (machine.isInvalid, cached.freshUntil)
        let isFresh = !isInvalid && facts.failure == nil && freshUntil.map { now <= $0 } ?? false
        let numbers = machine.endWithContent(isFresh: isFresh)
        let ended = numbers.isEmpty ? [] : loads.filter { numbers.contains($0.number) }
        if !ended.isEmpty { removeLoads(as: .cached) { numbers.contains($0.number) } }
        cached.changes.add()
        kept = KeptValue(cached.value.kept)
        let provenance = Provenance.entityCache(stage: cached.stage.name)
        replace(content, shown: shown, .newContent(provenance)) { facts in
            (facts.entity, facts.provenance, facts.isOfServer) = (cached.entity, provenance, true)
            facts.contentTime = cached.time
            // After a failure the retry time counts, not the freshness of the content.
            if facts.failure == nil { facts.freshUntil = isInvalid ? nil : freshUntil }
        }
        return ended
    }

    // MARK: Known content

    /// The content that the next request may name in a condition; `nil` unless all views have the server's content.
    /// Otherwise a 304 could confirm content that the server has never sent.
    func knownContent(hasResponseCache: Bool) -> KnownContent? {
        guard isKnownToViews, !views.isEmpty else { return nil }
        return hasResponseCache ? presentBody.map { .body($0) } : validator
    }

    /// The server's content as the outcome of a load that accepts stored content; `nil` if there is none.
    var storedOutcome: LoadOutcome? {
        guard isKnownToViews, let entity = facts.entity else { return nil }
        let head = HTTPResponse(status: .ok, headerFields: entity.headerFields)
        return .loaded(kept?.value ?? LoadedValue(head: head), layered.server)
    }

    /// Whether all views have the server's content. A view that could not read it counts as well, because it could not
    /// read an unchanged body the next time either.
    private var isKnownToViews: Bool { facts.isOfServer && views.allSatisfy(\.snapshot.isRead) }

    /// The validator of the content.
    private var validator: KnownContent? {
        facts.entity?.condition.map { .validator(name: $0.name, value: $0.value) }
    }

    /// The response cache's name for the body of the content.
    private var presentBody: UInt64? {
        knownBody.flatMap { $0.contentVersion == facts.contentVersion ? $0.body : nil }
    }

    /// Whether a response without a body confirms the current content. The content must still have the validator that
    /// was sent, and the response must not have another strong entity tag
    /// ([RFC 9111, 4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Otherwise the content may have
    /// changed since the request was sent.
    private func isConfirmed(by confirmation: ResourceExchange.Confirmation) -> Bool {
        guard isKnownToViews else { return false }
        switch confirmation.subject {
        case .body(let body): return body == presentBody
        case .validator(let name, let value):
            guard let present = validator?.condition, present == (name, value) else { return false }
            return facts.entity?.hasOtherTag(than: confirmation.headerFields) == false
        case nil: return false
        }
    }

    // MARK: Size

    /// The size of the content: that of its entity, otherwise that of its bytes or text. It is zero without content,
    /// and `nil` if the content must be encoded to find it.
    var knownBytes: Int? {
        guard let entity = facts.entity else { return 0 }
        if entity.byteCount > 0 { return entity.byteCount }
        guard let kept = kept?.value else { return nil }
        return kept.body?.count ?? kept.value.flatMap { ContentSize.known($0) }
    }
}

/// The content of a cached entity, as a resource shows it.
struct CachedContent {
    let value: LoadedValue
    let entity: Entity
    /// The stage of the cache.
    let stage: PipelineStage
    /// The monotonic time at which the server sent the content; `nil` if it is unknown.
    let time: Duration?
    let freshUntil: Duration?
    /// The changes of the caches if the entity is shown.
    let changes: CacheChanges

    /// Describes an entity that was read now. The stored times are kept, so content does not become younger when it is
    /// read from a cache.
    init(
        _ value: LoadedValue, _ stored: StoredEntity, at stage: PipelineStage, _ changes: CacheChanges,
        _ rules: FreshnessRules, _ service: HTTPResourceService
    ) {
        let now = service.time.now
        let lifetime =
            rules.isByServer ? Freshness.lifetime(of: value.head.headerFields, receivedAt: stored.date) : nil
        let outcome = PersistedTime(date: stored.date, age: stored.age)
            .content(readAt: now, now: service.clock.date, serverLifetime: lifetime)
        (self.value, self.stage, self.changes) = (value, stage, changes)
        freshUntil = rules.deadline(of: outcome)
        time = if case .content(let content) = outcome { now - content.age } else { nil }
        entity = Entity(
            mediaType: value.contentType.flatMap { MediaType(parsing: $0) }, headerFields: value.head.headerFields,
            date: stored.date, byteCount: stored.body.count)
    }
}

extension Provenance {
    fileprivate init(of use: StoredResponseUse?) {
        self = use.map { .httpCache(age: $0.age, isStale: $0.isStale) } ?? .network
    }
}

extension Entity {
    /// Whether header fields have a strong entity tag that differs from the entity's. The `W/` of the entity's tag is
    /// ignored: servers that compress bodies often make the tag of the whole response weak, but not that of a 304.
    fileprivate func hasOtherTag(than fields: HTTPFields) -> Bool {
        guard let entityTag, let other = fields[.eTag], !other.hasPrefix("W/") else { return false }
        return (entityTag.hasPrefix("W/") ? String(entityTag.dropFirst(2)) : entityTag) != other
    }
}

/// The content of the server, and the layers on top of it.
struct LayeredContent: Sendable {
    /// The layers in the order in which they are applied.
    var layers: [OptimisticLayer]
    /// The server's content for each content type that has some.
    var server: [any AnyProjection]

    /// The content that the views show: the layers applied in order to the server's content.
    var shown: [any AnyProjection] {
        guard !layers.isEmpty else { return server }
        return server.map { projection in layers.reduce(projection) { $1.applied(to: $0) } }
    }

    /// Removes a layer.
    ///
    /// - Returns: The layer; `nil` if no layer has this number.
    mutating func remove(_ number: UInt64) -> OptimisticLayer? {
        layers.firstIndex { $0.number == number }.map { layers.remove(at: $0) }
    }

    /// Makes a layer part of the server's content.
    ///
    /// - Returns: Whether there is content that the layer has changed.
    mutating func settle(_ number: UInt64) -> Bool {
        guard let layer = remove(number) else { return false }
        server = server.map { layer.applied(to: $0) }
        return server.contains { $0.contentType == layer.contentType }
    }
}
