import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

extension ResourceCore.Contents {
    /// Whether the caches may still have an entity to show.
    var mayReadCaches: Bool { cacheReading != .ended && facts.entity == nil }
}

extension ResourceCore {
    /// The result of showing a cached entity.
    enum CacheVerdict {
        case shown
        /// Something newer exists, so the entity was dropped.
        case late
        /// The views that decide cannot read the entity, but others can.
        case unfit
        /// No view can read the entity.
        case unreadable
    }

    /// Whether the caches may still have an entity to show.
    var mayReadCaches: Bool { contents.withLock { $0.mayReadCaches } }

    /// The running read of the caches, or a new one; `nil` if there is nothing to read.
    func joinCacheRead() -> (read: CacheRead, isNew: Bool)? {
        contents.withLock { contents in
            guard contents.mayReadCaches else { return nil }
            if let read = contents.cacheRead { return (read, false) }
            let read = CacheRead()
            contents.cacheRead = read
            contents.cacheReading = .running
            return (read, true)
        }
    }

    /// Ends a read, so that the caches are not read again.
    func endCacheRead(_ read: CacheRead) {
        contents.withLock { contents in
            guard contents.cacheRead === read else { return }
            contents.cacheRead = nil
            contents.cacheReading = .ended
        }
        read.end()
    }

    /// Begins the request of a load that has waited for the caches.
    ///
    /// - Returns: Whether the load is still needed.
    func request(_ run: LoadRun) -> Bool {
        changing { contents in
            guard contents.machine.request(run.number) else { return false }
            contents.changeFacts(.requested) { _ in }
            return true
        }
    }

    /// Shows a cached entity, unless there is already content, or the content was removed meanwhile. Loads for which
    /// the entity is sufficient end.
    ///
    /// The stored times are kept, so content does not become younger when it is read from a cache.
    ///
    /// - Parameter changes: The changes of the caches if the entity is shown.
    func show(
        _ value: LoadedValue, _ stored: StoredEntity, _ stage: PipelineStage, _ read: CacheRead,
        _ changes: CacheChanges, _ service: HTTPResourceService
    ) -> CacheVerdict {
        let now = service.time.now
        let rules = service.effective(for: self).freshness
        let lifetime =
            rules.isByServer ? Freshness.lifetime(of: value.head.headerFields, receivedAt: stored.date) : nil
        let outcome = PersistedTime(date: stored.date, age: stored.age)
            .content(readAt: now, now: service.clock.date, serverLifetime: lifetime)
        let freshUntil = rules.deadline(of: outcome)
        let time: Duration? = if case .content(let content) = outcome { now - content.age } else { nil }
        let entity = Entity(
            mediaType: value.contentType.flatMap { MediaType(parsing: $0) }, headerFields: value.head.headerFields,
            date: stored.date, byteCount: stored.body.count)
        let provenance = Provenance.entityCache(stage: stage.name)
        var projections: [any AnyProjection] = []
        var known = 0
        while true {
            let views = contents.withLock { $0.views }
            // The views have moved to another resource, because both have the same URL now.
            guard views.count >= known else { return .late }
            for view in views[known...] {
                if let projection = view.snapshot.project(value, service.codecs) { projections.append(projection) }
            }
            known = views.count
            if ReadingRules.refusal(of: projections, by: views) != nil {
                return projections.contains { $0.failure == nil } ? .unfit : .unreadable
            }
            let shown = changing { contents -> (verdict: CacheVerdict, ended: [LoadRun])? in
                guard contents.cacheRead === read, contents.facts.entity == nil else { return (.late, []) }
                guard contents.views.count == known else { return nil }
                let isInvalid = contents.machine.isInvalid
                let isFresh = !isInvalid && contents.facts.failure == nil && freshUntil.map { now <= $0 } ?? false
                let numbers = contents.machine.endWithContent(isFresh: isFresh)
                let ended = numbers.isEmpty ? [] : contents.runs.filter { numbers.contains($0.number) }
                if !ended.isEmpty { contents.removeRuns { numbers.contains($0.number) } }
                changes.add()
                contents.kept = KeptValue(value.kept)
                contents.change(.replace(projections), .newContent(provenance)) { facts in
                    facts.entity = entity
                    facts.provenance = provenance
                    facts.isOfServer = true
                    facts.contentTime = time
                    // After a failure the retry time counts, not the freshness of the content.
                    if facts.failure == nil { facts.freshUntil = isInvalid ? nil : freshUntil }
                }
                return (.shown, ended)
            }
            guard let shown else { continue }
            if shown.verdict == .shown { service.table.recount(self) }
            for run in shown.ended { run.end(.loaded(value, projections)) }
            if shown.verdict == .shown { changes.work() }
            return shown.verdict
        }
    }
}
