import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The content of a resource: its views, changes without a request, and what the caches have.
extension ResourceCore {
    /// Drops the body that is kept for content types that are requested later. The contents of existing types stay.
    func dropKeptBody() {
        // The body may be released here, outside the lock.
        _ = reading { state -> KeptValue? in
            guard let kept = state.kept, kept.value.body != nil else { return nil }
            var value = kept.value
            value.body = nil
            state.kept = value.isReadable ? KeptValue(value) : nil
            return kept
        }
    }

    /// The size of content that was set without a known one.
    var measuredBytes: Int {
        let (kept, views) = reading { ($0.kept, $0.views) }
        if let value = kept?.value.value { return ContentSize.measured(value) }
        if let body = kept?.value.body { return body.count }
        return views.compactMap(\.snapshot.anyContent).reduce(0) { $0 + ContentSize.measured($1) }
    }

    /// Changes the layers, or the server's content below them. The closures of the layers are called outside the lock,
    /// and again if the content has changed meanwhile.
    ///
    /// - Parameters:
    ///   - plan: Changes a copy of the content.
    ///   - change: Changes the state under the lock. It receives the result of ``plan``, the new content, and the
    ///     content with the layers.
    func relayering<Plan, Result>(
        _ plan: (inout LayeredContent) -> Plan,
        _ change: (inout CoreState, Plan, LayeredContent, _ shown: [any AnyProjection]) -> Result
    ) -> Result {
        while true {
            var (version, content) = reading { ($0.facts.contentVersion, $0.layered) }
            let known = content.server.count
            let made = plan(&content)
            let shown = content.shown
            let result = changing { state -> Result? in
                // A view that was added meanwhile may have content.
                guard state.facts.contentVersion == version, state.layered.server.count == known else { return nil }
                return change(&state, made, content, shown)
            }
            if let result { return result }
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
        _ = set(content, entity: entity, provenance: provenance, service) { _ in
            connection.map { service.isLive($0) } ?? true
        }
    }

    /// Changes the server's content, below the optimistic layers.
    ///
    /// - Returns: Whether there was content to change.
    func update<Content: Sendable>(_ service: HTTPResourceService, _ change: (inout Content) -> Void) -> Bool {
        while true {
            _ = snapshot(of: Content.self, service.codecs)
            let (number, present) = reading { ($0.machine.committed, $0.serverContent(of: Content.self)) }
            guard var content = present else { return false }
            change(&content)
            if set(content, entity: nil, provenance: .local, service, if: { $0.machine.committed == number }) {
                return true
            }
        }
    }

    /// Sets the content under a condition, which is checked under the lock.
    ///
    /// - Returns: Whether the content was set.
    private func set<Content: Sendable>(
        _ content: Content, entity: Entity?, provenance: Provenance, _ service: HTTPResourceService,
        if isWanted: (CoreState) -> Bool
    ) -> Bool {
        let (now, freshness) = (service.time.now, service.effective(for: self).freshness)
        let value = LoadedValue(value: content, head: HTTPResponse(status: .ok))
        let places = service.cachePlaces(of: self)
        let isSet = replacing(with: value, .standard) { state, content, shown in
            guard isWanted(state) else { return false }
            state.set(value, content, shown, entity: entity, provenance: provenance, now, freshness, service)
            places?.removeEntities()
            return true
        }
        if isSet {
            places?.work()
            service.table.recount(self)
        }
        return isSet
    }

    /// Marks the content as outdated.
    func invalidate() { changing { $0.invalidate() } }

    /// Removes content and failure, and cancels all loads.
    ///
    /// - Parameter places: The places of the entity in the caches. It is removed there too.
    func wipe(_ reason: WipeReason = .requested, removing places: CachePlaces? = nil) {
        let ended = changing { state in
            places?.removeEntities()
            return endSession(&state, reason)
        }
        for load in ended { load.cancel() }
        places?.work()
    }

    // MARK: Caches

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
    var mayReadCaches: Bool { reading { $0.mayReadCaches } }

    /// The running read of the caches, or a new one; `nil` if there is nothing to read.
    func joinCacheRead() -> (read: CacheRead, isNew: Bool)? {
        reading { state in
            guard state.mayReadCaches else { return nil }
            if let read = state.cacheRead { return (read, false) }
            let read = CacheRead()
            (state.cacheRead, state.cacheReading) = (read, .running)
            return (read, true)
        }
    }

    /// Ends a read, so that the caches are not read again.
    func endCacheRead(_ read: CacheRead) {
        reading { state in
            guard state.cacheRead === read else { return }
            (state.cacheRead, state.cacheReading) = (nil, .ended)
        }
        read.end()
    }

    /// Shows a cached entity, unless there is already content, or the content was removed meanwhile. Loads for which
    /// the entity is sufficient end.
    func show(_ cached: CachedContent, _ read: CacheRead, _ service: HTTPResourceService) -> CacheVerdict {
        typealias Shown = (verdict: CacheVerdict, ended: [Load], projections: [any AnyProjection])
        let now = service.time.now
        let shown = replacing(with: cached.value, service.codecs) { state, content, shown -> Shown in
            if ReadingRules.refusal(of: content.server, by: state.views) != nil {
                return (content.server.contains { $0.failure == nil } ? .unfit : .unreadable, [], [])
            }
            guard state.cacheRead === read, state.facts.entity == nil else { return (.late, [], []) }
            return (.shown, state.show(cached, content, shown, at: now), content.server)
        }
        guard shown.verdict == .shown else { return shown.verdict }
        service.table.recount(self)
        for load in shown.ended { load.end(.loaded(cached.value, shown.projections)) }
        cached.changes.work()
        return .shown
    }
}
