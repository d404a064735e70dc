public import EssentialsHTTP
import EssentialsRequests

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
    /// Their entities in the caches, as far as they belong to the present account, are not found any more from that moment
    /// on, and are removed in the background; see ``wipe(_:purging:_:)``.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - extent: Whether other requests than loads are cancelled too.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) {
        _ = try beginWipe(pattern, extent)
    }

    /// Marks the content of all resources as outdated whose configuration has one of the tags; see
    /// ``ResourceConfiguration/tags``.
    public func invalidate(tagged tags: Set<String>) {
        adoptEnvironment()
        for core in cores(matching: [], tagged: tags) { core.invalidate() }
    }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    ///
    /// Their entities in the caches are removed like those of a pattern. Entities of resources that the service does not
    /// know at present are those that match the patterns of the blocks which set one of the tags.
    public func wipe(tagged tags: Set<String>, _ extent: WipeExtent) {
        adoptEnvironment()
        let cores = cores(matching: [], tagged: tags)
        let (urls, patterns, base) = (
            Set(cores.map(\.address.text)), configurations.patterns(tagged: tags), table.base
        )
        removeEntities { url in urls.contains(url.text) || patterns.contains { $0.matches(url, below: base) } }
        wipe(cores, extent)
    }

    /// Removes the content of all resources that a pattern selects, and their entities from the caches.
    ///
    /// ```swift
    /// try await service.wipe("/accounts/**", purging: .caches)
    /// ```
    ///
    /// It differs from ``wipe(_:_:)`` in that it returns when the caches have removed the entities, and after five seconds
    /// if one takes longer. Those of other accounts stay.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources. In the caches it also selects entities of resources that the service does not
    ///     know at present.
    ///   - store: What is purged besides the state.
    ///   - extent: Whether other requests than loads are cancelled too.
    /// - Returns: Whether all caches have removed what they had. One that has failed or takes longer tries again in the
    ///   background, and its entities are not found meanwhile. `CacheProblems.readableAfterRestart` names the caches
    ///   whose entities could be found again if the process ended now.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    @discardableResult
    public func wipe(
        _ pattern: ResourcePattern, purging store: PurgedStore, _ extent: WipeExtent
    ) async throws(RequestFailure) -> Bool {
        let removal = try beginWipe(pattern, extent)
        return await removal.isDone()
    }

    /// Removes the content of all resources that a pattern selects, and begins to remove their entities.
    private func beginWipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) -> EntityRemoval {
        let cores = try cores(matching: pattern)
        let base = table.base
        // It comes first: no resource that is created meanwhile finds an entity, and no load that began before stores one.
        let removal = removeEntities { url in pattern.matches(url, below: base) }
        wipe(cores, extent)
        return removal
    }

    /// Lets no entity of the present account be found whose URL a closure selects, and removes them in the background.
    ///
    /// - Parameter isSelected: It is called on any thread and under locks.
    @discardableResult
    private func removeEntities(of isSelected: @escaping @Sendable (ResourceURL) -> Bool) -> EntityRemoval {
        let (environment, base) = (adoptEnvironment(), table.base)
        requests.sender?.separateRequests()
        guard environment.admitsEntities else { return caching.remove([]) }
        let account = environment.partition
        return caching.remove([
            EntityScope(partition: account.isShared ? nil : account) { key in
                // A cache that is shared with fetched models keeps them.
                guard !key.isModel else { return false }
                guard key.partition == account || (account.isShared && key.partition.isOfCredentials) else {
                    return false
                }
                return isSelected(base.url(whole: key.url))
            }
        ])
    }

    // MARK: Partitions

    /// Enters the partition of another account, in one step: the content of all resources is removed,
    /// their loads are cancelled, and entity caches are read and written under other keys from now on.
    ///
    /// ```swift
    /// requests.setAuthorization(try .bearer(token))
    /// service.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Call it after the credentials were set, because observed resources are loaded again at once, a few at a time.
    /// Credentials that replace others, and a logout, suspend the partition: from then on loads use no entity caches until
    /// a partition is entered. Entering the partition of now does this too, and also removes the content that was loaded
    /// meanwhile; if it is not suspended, nothing happens.
    ///
    /// The entities of the partition before stay in persistent caches, for the next time that it is entered. To remove
    /// them, call ``wipe(_:purging:_:)`` before, or `clearAuthorization()` of the data-request service. Writes that are
    /// under way go on; requests that were not sent yet fail as `cancelled`, or as `authorization` if the credentials were
    /// replaced.
    public func enter(_ partition: EntityPartition) {
        let isSuspended = !adoptEnvironment().admitsEntities
        requests.sender?.enter(partition)
        adoption.adopt(entering: partition, anew: isSuspended)
    }

    /// The partition that was entered last.
    public var partition: EntityPartition { adoptEnvironment().partition }

    /// Removes the content of a resource and its entity.
    func wipe(_ core: ResourceCore, _ extent: WipeExtent) {
        requests.sender?.separateRequests()
        core.wipe(removing: cachePlaces(of: core))
        finishWipe(of: core, extent)
    }

    private func wipe(_ cores: [ResourceCore], _ extent: WipeExtent) {
        for core in cores {
            core.wipe()
            finishWipe(of: core, extent)
        }
    }

    private func finishWipe(of core: ResourceCore, _ extent: WipeExtent) {
        table.recount(core)
        if extent == .includingWrites { core.cancelRequests() }
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
