public import EssentialsHTTP

/// Invalidating and wiping several resources at once.
extension HTTPResourceService {
    /// Marks the content of all resources that a pattern selects as outdated; see ``Resource/invalidate()``.
    ///
    /// ```swift
    /// try service.invalidate("/orders/**")
    /// try service.invalidate(.all)
    /// ```
    ///
    /// It sends nothing. The time is proportional to the number of resources that the service knows.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func invalidate(_ pattern: ResourcePattern) throws(RequestFailure) {
        for core in try cores(matching: pattern) { core.invalidate() }
    }

    /// Removes the content of all resources that a pattern selects, and cancels their loads; see ``Resource/wipe(_:)``.
    ///
    /// ```swift
    /// try service.wipe("/users/7/**")
    /// try service.wipe(.all, .includingWrites)
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - extent: Whether other requests than loads are cancelled too.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) {
        wipe(try cores(matching: pattern), extent)
    }

    /// Marks the content of all resources as outdated whose configuration has one of the tags; see
    /// ``ResourceConfiguration/tags``.
    public func invalidate(tagged tags: Set<String>) {
        adoptEnvironment()
        for core in cores(matching: [], tagged: tags) { core.invalidate() }
    }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    public func wipe(tagged tags: Set<String>, _ extent: WipeExtent) {
        adoptEnvironment()
        wipe(cores(matching: [], tagged: tags), extent)
    }

    /// Removes the content of all resources that a pattern selects, and their entities from the caches.
    ///
    /// ```swift
    /// try await service.wipe("/accounts/**", purging: .caches)
    /// ```
    ///
    /// It returns when the caches have removed them.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources. In the caches it also selects entities of resources that the service does not
    ///     know at present.
    ///   - store: What is purged besides the state.
    ///   - extent: Whether other requests than loads are cancelled too.
    /// - Returns: Whether all caches have removed what they had. One that has failed tries again in the background, and is
    ///   not read meanwhile.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    @discardableResult
    public func wipe(
        _ pattern: ResourcePattern, purging store: PurgedStore, _ extent: WipeExtent
    ) async throws(RequestFailure) -> Bool {
        if let problem = pattern.problem { throw problem }
        adoptEnvironment()
        let base = table.base
        // A cache that is shared with fetched models keeps them.
        let scope = EntityScope { key in !key.isModel && pattern.matches(base.url(whole: key.url), below: base) }
        caching.forget(scope)
        try wipe(pattern, extent)
        // Once more, because a load may have ended just before it was cancelled.
        return await caching.removeAll(in: scope)
    }

    // MARK: Partitions

    /// Enters the partition of another person, tenant or account, in one step: the content of all resources is removed,
    /// their loads are cancelled, and entity caches are read and written under other keys from now on.
    ///
    /// ```swift
    /// requests.setAuthorization(try .bearer(token))
    /// service.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Call it after the credentials were set, because observed resources are loaded again at once, a few at a time. The
    /// entities of the partition before stay in persistent caches, for the next time that it is entered. To remove them,
    /// call ``wipe(_:purging:_:)`` before, or `clearAuthorization()` of the data-request service. Entering the partition
    /// of now does nothing. Writes that are under way go on; requests that were not sent yet fail as `cancelled`.
    public func enter(_ partition: EntityPartition) { adoption.adopt(entering: partition) }

    /// The partition that was entered last.
    public var partition: EntityPartition { adoptEnvironment().partition }

    func wipe(_ cores: [ResourceCore], _ extent: WipeExtent) {
        for core in cores {
            core.wipe()
            table.resize(core, bytes: 0)
            if extent == .includingWrites { core.cancelRequests() }
        }
    }

    /// The resources that a pattern selects.
    private func cores(matching pattern: ResourcePattern) throws(RequestFailure) -> [ResourceCore] {
        if let problem = pattern.problem { throw problem }
        adoptEnvironment()
        return cores(matching: [pattern])
    }
}

/// What a wipe removes besides the state of resources.
public enum PurgedStore: Sendable, Hashable {
    /// The entities in the caches.
    case caches
}
