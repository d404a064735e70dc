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
    /// From that moment on, their entities in the caches are not found any more if they belong to the current account.
    /// They are removed in the background; see ``wipe(_:purging:_:)``.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - extent: Whether requests other than loads are cancelled too.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) {
        _ = try beginWipe(pattern, extent)
    }

    /// Marks resources as outdated whose configuration has one of the tags; see ``ResourceConfiguration/tags``.
    public func invalidate(tagged tags: Set<String>) {
        adoptEnvironment()
        for core in cores(matching: [], tagged: tags) { core.invalidate() }
    }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    ///
    /// Their entities in the caches are removed like those of a pattern. For resources that the service does not know
    /// at present, the entities are removed that match the pattern of a configuration block that sets one of the tags.
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
    /// Unlike ``wipe(_:_:)``, it returns when the caches have removed the entities, or after five seconds if a cache
    /// takes longer. The entities of other accounts stay.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources. In the caches it also selects entities of resources that the service does
    ///     not know at present.
    ///   - store: The store that is purged in addition to the state.
    ///   - extent: Whether requests other than loads are cancelled too.
    /// - Returns: Whether all caches have removed their entities. A cache that has failed or takes longer tries again
    ///   in the background, and its entities are not found meanwhile. `CacheProblems.readableAfterRestart` names the
    ///   caches whose entities could be found again if the process ended now.
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
        // This comes first: resources that are created meanwhile find no entity, and loads that began earlier store
        // none.
        let removal = removeEntities { url in pattern.matches(url, below: base) }
        wipe(cores, extent)
        return removal
    }

    /// Hides the entities of the current account whose URL a closure selects, and removes them in the background.
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
                // A cache that is shared with fetched models keeps the models.
                guard !key.isModel else { return false }
                guard key.partition == account || (account.isShared && key.partition.isOfCredentials) else {
                    return false
                }
                return isSelected(base.url(whole: key.url))
            }
        ])
    }

    // MARK: Partitions

    /// Enters the partition of another account in one step: the content of all resources is removed, their loads are
    /// cancelled, and entity caches are read and written under other keys from now on.
    ///
    /// ```swift
    /// requests.setAuthorization(try .bearer(token))
    /// service.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Call it after the credentials were set, because observed resources are loaded again at once, a few at a time. A
    /// logout, or credentials that replace others, suspend the partition: from then on loads use no entity caches until
    /// a partition is entered. Entering the suspended partition again also removes the content that was loaded
    /// meanwhile. Entering the current partition does nothing if it is not suspended.
    ///
    /// The entities of the previous partition stay in persistent caches, for the next time that it is entered. To
    /// remove them, call ``wipe(_:purging:_:)`` before, or `clearAuthorization()` of the data-request service. Writes
    /// that are being sent continue. Requests that were not sent yet fail as `cancelled`, or as `authorization` if the
    /// credentials were replaced.
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

/// The stores that a wipe purges in addition to the state of resources.
public enum PurgedStore: Sendable, Hashable {
    /// The entities in the caches.
    case caches
}
