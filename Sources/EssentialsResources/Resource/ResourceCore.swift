import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The one object behind all handles of a resource.
///
/// All changing state is protected by one mutex, under which no foreign code is called. The core does not know its
/// service, so a service and its cores form no cycle: handles and running loads hold both.
@usableFromInline
final class ResourceCore: Sendable {
    /// The state that the mutex protects.
    struct Contents: Sendable {
        var machine = ResourceMachine()
        var facts = ResourceFacts()
        /// The snapshots by content type. Most resources have one. Views are added and never removed.
        var views: [ResourceView] = []
        /// The content as it was loaded or set, for content types that are requested later.
        var kept: KeptValue?
        /// The body of the content; `nil` unless a response cache has sent it.
        var knownBody: KnownBody?
        /// The running loads, in the order of the machine's.
        var runs: [LoadRun] = []
        var observers = ObserverList()
        /// The service of the observers, which is kept alive here. It is `nil` without observers, and if there are only
        /// observer objects, which do not keep a service alive.
        var observingService: HTTPResourceService?
        /// The changes that wait for their delivery.
        var pending = Fifo<PendingChange>()
        /// The running read of the caches.
        var cacheRead: CacheRead?
        /// The address, which changes with the environment's base URL.
        var address: ResourceURL
        // The following four fill the space after the address.
        /// The number of observers that keep the service alive.
        var keepers: Int32 = 0
        /// Whether a thread is delivering changes.
        var isDelivering = false
        /// Whether content was removed because other credentials were set. It is then loaded again for observers when
        /// an account is entered.
        var isWithdrawn = false
        /// Whether the caches were read since the content was removed.
        var cacheReading = CacheReading.notBegun
        /// The kind of response that the views read, and the number of views for which it was computed.
        var responseKind: (views: Int32, kind: ResponseKind)?
        /// The definition from which the resource was obtained; `nil` if its loads are plain ones.
        var definition: ResourceDefinition?
        /// The configuration for each method that was needed, in the version that was current then.
        var configurations: [EffectiveConfiguration] = []
        /// The running requests that are not loads, in the order of their start.
        var requests: [RequestRecord] = []
        /// The regular loads; `nil` if the resource was never polled.
        var polling: ResourcePolling?
        /// The optimistic layers and the waiting writes; `nil` if there are neither.
        var writing: WritingBox?
        /// The actions that follow the delivery of the changes up to a version.
        var followers: [(version: UInt64, action: @Sendable () -> Void)] = []
        /// The resource to which this one leads, if it was merged with another one; see ``ForwardedResource``.
        var forward: ForwardedResource?
    }

    /// The header fields that select the representation.
    let variant: ResourceVariant
    /// The parts of the state that are read without the lock.
    let flags = ResourceFlags()
    let contents: Mutex<Contents>
    /// The place in the service's table. The table protects it.
    let tableIndex = Atomic<Int32>(-1)
    /// Whether the service's ``OwnedObservers`` has an entry for the resource.
    let hasOwnedObservers = Atomic(false)
    #if DEBUG
        private let mark = LiveMark(.core)
    #endif

    init(_ address: ResourceURL, _ variant: ResourceVariant) {
        contents = Mutex(Contents(address: address))
        self.variant = variant
    }

    /// The address.
    var address: ResourceURL { contents.withLock { $0.address } }

    /// Changes the address, and removes content and failure, which belong to the old one. ``MovedResource/finish()``
    /// notifies the observers.
    func move(to address: ResourceURL) -> MovedResource {
        contents.withLock { contents in
            contents.address = address
            return wipe(&contents, .environment)
        }
    }

    /// Removes content and failure, because the account has ended. ``MovedResource/finish()`` notifies the observers.
    ///
    /// - Parameter keepsInterest: Whether loaded content still counts as loaded when the next account is entered.
    func leave(_ reason: WipeReason, keepsInterest: Bool = false) -> MovedResource {
        contents.withLock { contents in
            let wasLoaded = contents.facts.wasLoaded || contents.isWithdrawn
            defer { contents.isWithdrawn = keepsInterest && wasLoaded }
            return wipe(&contents, reason)
        }
    }

    private func wipe(_ contents: inout Contents, _ reason: WipeReason) -> MovedResource {
        let wasLoaded = contents.facts.wasLoaded || contents.isWithdrawn
        contents.isWithdrawn = false
        let displaced = Displaced(contents)
        let ended = endSession(&contents, reason)
        writeFlags(contents.facts, isForwarded: contents.forward != nil)
        return MovedResource(
            core: self, ended: ended, service: wasLoaded ? contents.reloadingService : nil, displaced: displaced)
    }

    // MARK: Reading

    /// The snapshot of a content type; `nil` if the type was not requested yet.
    @usableFromInline
    func object(of contentType: ObjectIdentifier) -> AnyObject? {
        contents.withLock { $0.views.object(of: contentType) }
    }

    /// The snapshot of a content type. The first call for a type reads the kept content as this type.
    func snapshot<Content: Sendable>(
        of type: Content.Type, _ codecs: CodecRegistry
    ) -> ResourceSnapshot<Content> {
        if let object = object(of: ObjectIdentifier(type)) { return ResourceSnapshot.typed(object) }
        return addView(of: type, codecs)
    }

    /// Adds a view of a content type, unless there is one.
    @usableFromInline
    func addView<Content: Sendable>(of type: Content.Type, _ codecs: CodecRegistry) -> ResourceSnapshot<Content> {
        while true {
            let (version, kept, forward) = contents.withLock { ($0.facts.version, $0.kept, $0.forward) }
            // A forwarded resource has no views, so its handles come here. Forwarding has changed its version.
            if let forward { return forward.end.snapshot(of: type, codecs) }
            // This may decode a body of at most 16 KiB, so it happens outside the lock.
            let projection = kept?.value.content(of: type, codecs).map { Projection<Content>(result: $0) }
            let added = contents.withLock { contents -> ResourceSnapshot<Content>? in
                if let present = contents.snapshot(of: type) { return present }
                guard contents.facts.version == version else { return nil }
                let empty = ResourceSnapshot<Content>(contents.facts)
                contents.views.append(
                    ResourceView(projection.map { empty.next(contents.facts, .replace([$0])) } ?? empty))
                return contents.snapshot(of: type)
            }
            if let added { return added }
        }
    }

    /// Drops the body that is kept for content types that are requested later. The contents of existing types stay.
    func dropKeptBody() {
        // The body may be released here, outside the lock.
        _ = contents.withLock { contents -> KeptValue? in
            guard let kept = contents.kept, kept.value.body != nil else { return nil }
            var value = kept.value
            value.body = nil
            contents.kept = value.isReadable ? KeptValue(value) : nil
            return kept
        }
    }

    // MARK: Changes without a request

    /// Sets the content.
    ///
    /// - Parameter connection: The connection that delivered the content; `nil` if there is none. If it does not count
    ///   any more, nothing happens.
    func override<Content: Sendable>(
        with content: Content, entity: Entity?, provenance: Provenance = .local, _ service: HTTPResourceService,
        from connection: EventConnection? = nil
    ) {
        let (now, freshness) = (service.time.now, service.effective(for: self).freshness)
        let value = LoadedValue(value: content, head: HTTPResponse(status: .ok))
        let places = service.cachePlaces(of: self)
        replacing(with: value, .standard) { contents, content, shown in
            if let connection, !service.isLive(connection) { return }
            contents.set(value, content, shown, entity: entity, provenance: provenance, now, freshness, service)
            places?.removeEntities()
        }
        places?.work()
        service.table.recount(self)
    }

    /// Changes the server's content, below the optimistic layers.
    ///
    /// - Returns: Whether there was content to change.
    func update<Content: Sendable>(
        _ service: HTTPResourceService, _ change: (inout Content) -> Void
    ) -> Bool {
        let codecs = service.codecs
        let places = service.cachePlaces(of: self)
        while true {
            _ = snapshot(of: Content.self, codecs)
            let (number, present) = contents.withLock {
                ($0.machine.committed, $0.serverContent(of: Content.self))
            }
            guard var content = present else { return false }
            change(&content)
            let (now, freshness) = (service.time.now, service.effective(for: self).freshness)
            let value = LoadedValue(value: content, head: HTTPResponse(status: .ok))
            let isDone = replacing(with: value, .standard) { contents, content, shown in
                guard contents.machine.committed == number else { return false }
                contents.set(value, content, shown, entity: nil, now, freshness, service)
                places?.removeEntities()
                return true
            }
            if isDone {
                places?.work()
                service.table.recount(self)
                return true
            }
        }
    }

    /// Marks the content as outdated.
    func invalidate() {
        changing { contents in
            contents.machine.invalidate()
            contents.changeFacts(.invalidated) { facts in
                facts.isInvalid = true
                facts.freshUntil = nil
            }
        }
    }

    /// Removes content and failure, and cancels all loads.
    ///
    /// - Parameter places: The places of the entity in the caches. It is removed there too.
    func wipe(_ reason: WipeReason = .requested, removing places: CachePlaces? = nil) {
        let ended = changing { contents in
            places?.removeEntities()
            return endSession(&contents, reason)
        }
        for run in ended { run.cancel() }
        places?.work()
    }

    /// Removes content and failure. If the reason ends an account or environment, earlier changes are not delivered any
    /// more to observers that have not received them yet.
    ///
    /// - Returns: The loads, which have all ended. They must be cancelled without the lock.
    func endSession(_ contents: inout Contents, _ reason: WipeReason) -> [LoadRun] {
        let ended = contents.wipe(reason)
        if reason.endsSession { flags.begin(at: contents.facts.version) }
        return ended
    }
}

extension ResourceCore.Contents {
    /// The snapshot of a content type; `nil` if the type was not requested yet.
    func snapshot<Content: Sendable>(of type: Content.Type) -> ResourceSnapshot<Content>? {
        views.snapshot(of: type)
    }

    /// Removes content and failure.
    ///
    /// - Returns: The loads, which have all ended. They must be cancelled without the lock.
    mutating func wipe(_ reason: WipeReason) -> [LoadRun] {
        _ = machine.wipe()
        let ended = takeRuns()
        kept = nil
        // Reading the caches again would undo the wipe, unless their keys have changed.
        cacheRead = nil
        cacheReading = reason.changesKeys ? .notBegun : .ended
        removeLayers()
        if reason.endsSession { revokeWaitingWrites() }
        change(.remove, .wiped(reason)) { facts in facts = ResourceFacts(version: facts.version) }
        return ended
    }

    /// Removes all loads.
    mutating func takeRuns() -> [LoadRun] {
        let ended = runs
        removeRuns { _ in true }
        return ended
    }

    /// Changes the facts that all views share, and keeps the content.
    mutating func changeFacts(_ event: ResourceEvent?, _ change: (inout ResourceFacts) -> Void) {
        self.change(.keep, event, change)
    }

    /// Changes the state. Its version grows by one.
    ///
    /// - Parameters:
    ///   - content: The change of the content.
    ///   - event: The event for the observers; `nil` if they see the change with the next event.
    ///   - change: Changes the facts that all views share.
    mutating func change(
        _ content: ContentChange, _ event: ResourceEvent?, _ change: (inout ResourceFacts) -> Void
    ) {
        change(&facts)
        facts.version += 1
        facts.loads = runs.count
        facts.progress = shownProgress
        if case .keep = content {} else { facts.contentVersion = facts.version }
        for index in views.indices {
            var facts = facts
            if writing != nil { facts.pendingLayers = pendingLayers(of: views[index].contentType) }
            views[index].snapshot = views[index].snapshot.next(facts, content)
        }
        if let event { enqueue(event) }
    }

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
            facts.entity = entity
            facts.provenance = provenance
            facts.isOfServer = false
            facts.contentTime = now
            facts.freshUntil = freshUntil
            facts.failure = nil
            facts.failureTime = nil
            facts.isInvalid = false
        }
    }
}
