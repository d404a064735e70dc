import EssentialsHTTP
import EssentialsRequests
import Synchronization

/// The one object behind all handles of a resource.
///
/// Everything that changes is protected by one mutex, under which nothing foreign is called. The core does not know its
/// service, so that a service and its cores form no cycle: handles and running loads hold both.
@usableFromInline
final class ResourceCore: Sendable {
    /// What the mutex protects.
    struct Contents: Sendable {
        var machine = ResourceMachine()
        var facts = ResourceFacts()
        /// The snapshots by content type. Most resources have one. Views are added and never removed.
        var views: [ResourceView] = []
        /// The content as it was loaded or set, for content types that are asked for later.
        var kept: KeptValue?
        /// The loads that run, in the order of the machine's.
        var runs: [LoadRun] = []
        var observers = ObserverList()
        /// The changes that wait for their delivery.
        var pending = PendingQueue()
        /// Whether a thread is delivering changes.
        var isDelivering = false
        /// Whether the caches were read since the content was removed.
        var cacheReading = CacheReading.notBegun
        /// The reading of the caches that runs.
        var cacheRead: CacheRead?
        /// The address, which changes with the environment's base URL.
        var address: ResourceURL
        /// The definition by which the resource was obtained; `nil` if its loads are plain ones.
        var definition: ResourceDefinition?
        /// The configuration for each method that was needed, of the version that was the present one then.
        var configurations: [EffectiveConfiguration] = []
        /// What the views read from a response, and the number of views for which it was computed.
        var responseKind: (views: Int, kind: ResponseKind)?
        /// The requests that run beside the loads, in the order of their start.
        var requests: [RequestRecord] = []
        /// The number of the request that was started last.
        var lastRequest: UInt64 = 0
        /// What is to be done after the changes up to a version have been delivered.
        var followers: [(version: UInt64, action: @Sendable () -> Void)] = []
    }

    /// The header fields that select the representation.
    let variant: ResourceVariant
    /// The parts of the state that are read without the lock.
    let flags = ResourceFlags()
    let contents: Mutex<Contents>
    /// The place in the service's table, which the table protects.
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

    /// Changes the address.
    func move(to address: ResourceURL) { contents.withLock { $0.address = address } }

    // MARK: Reading

    /// The snapshot of a content type; `nil` if nobody has asked for the type yet.
    @usableFromInline
    func object(of contentType: ObjectIdentifier) -> AnyObject? {
        contents.withLock { $0.views.object(of: contentType) }
    }

    /// The snapshot of a content type. The first call for a type reads the content that is kept as this type.
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
            let (version, kept) = contents.withLock { ($0.facts.version, $0.kept) }
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

    // MARK: Changes without a request

    /// Sets the content.
    func override<Content: Sendable>(with content: Content, entity: Entity?, _ service: HTTPResourceService) {
        let (now, freshness) = (service.time.now, service.effective(for: self).freshness)
        let places = service.cachePlaces(of: self)
        changing { contents in
            contents.set(content, entity: entity, provenance: .local, now, freshness, service)
            places?.removeEntities()
        }
        places?.work()
    }

    /// Changes the content.
    ///
    /// - Returns: Whether there was content to change.
    func update<Content: Sendable>(
        _ service: HTTPResourceService, _ change: (inout Content) -> Void
    ) -> Bool {
        let codecs = service.codecs
        let places = service.cachePlaces(of: self)
        while true {
            let number = contents.withLock { $0.machine.committed }
            guard var content = snapshot(of: Content.self, codecs).content else { return false }
            change(&content)
            let (now, freshness) = (service.time.now, service.effective(for: self).freshness)
            let isDone = changing { contents in
                guard contents.machine.committed == number else { return false }
                contents.set(content, entity: nil, provenance: .local, now, freshness, service)
                places?.removeEntities()
                return true
            }
            if isDone {
                places?.work()
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
    func wipe(_ reason: WipeReason = .requested) {
        let ended = changing { contents -> [LoadRun] in
            _ = contents.machine.wipe()
            let ended = contents.runs
            contents.runs = []
            contents.kept = nil
            // A wipe would have no effect if the caches were read again, unless their keys are others now.
            contents.cacheRead = nil
            contents.cacheReading = reason.changesKeys ? .notBegun : .ended
            contents.change(.remove, .wiped(reason)) { facts in
                facts = ResourceFacts(version: facts.version)
            }
            return ended
        }
        for run in ended { run.cancel() }
    }
}

extension ResourceCore.Contents {
    /// The snapshot of a content type; `nil` if nobody has asked for the type yet.
    func snapshot<Content: Sendable>(of type: Content.Type) -> ResourceSnapshot<Content>? {
        views.snapshot(of: type)
    }

    /// Changes what all views have in common, and keeps the content.
    mutating func changeFacts(_ event: ResourceEvent?, _ change: (inout ResourceFacts) -> Void) {
        self.change(.keep, event, change)
    }

    /// Changes the state. Its version grows by one.
    ///
    /// - Parameters:
    ///   - content: What happens to the content.
    ///   - event: The event for the observers; `nil` if they see the change with the next event.
    ///   - change: Changes what all views have in common.
    mutating func change(
        _ content: ContentChange, _ event: ResourceEvent?, _ change: (inout ResourceFacts) -> Void
    ) {
        change(&facts)
        facts.version += 1
        facts.loads = machine.loads.count
        if case .keep = content {} else { facts.contentVersion = facts.version }
        for index in views.indices { views[index].snapshot = views[index].snapshot.next(facts, content) }
        if let event { enqueue(event) }
    }

    /// Sets the content without a request.
    ///
    /// - Parameter entity: The entity; `nil` means that the media type and the header fields stay, or that the media
    ///   type is `application/octet-stream` if there are none.
    mutating func set<Content: Sendable>(
        _ content: Content, entity: Entity?, provenance: Provenance, _ now: Duration, _ freshness: FreshnessRules,
        _ service: HTTPResourceService
    ) {
        machine.override()
        let entity =
            entity
            ?? Entity(
                mediaType: facts.entity?.mediaType ?? .octetStream, headerFields: facts.entity?.headerFields ?? [:],
                date: service.clock.date)
        let value = LoadedValue(
            value: content, contentType: entity.mediaType?.description,
            head: HTTPResponse(status: .ok, headerFields: entity.headerFields))
        kept = KeptValue(value)
        let freshUntil = freshness.deadline(of: .content(.init(time: now)))
        // Views of another type show the content if it is of that type too. Without a body nothing is decoded.
        let projections = views.compactMap { $0.snapshot.project(value, .standard) }
        change(.replace(projections), .newContent(provenance)) { facts in
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
