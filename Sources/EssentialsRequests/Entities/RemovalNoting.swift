/// A cache that writes down what is to be removed before it removes it, so that a removal which fails is made after a restart,
/// and its entities are not found until then.
protocol RemovalNoting: EntityCache {
    /// The name of the store for a report.
    var storeName: String { get }
    /// Whether all removals that have failed so far are written down. They are then the cache's own matter: it finds none of
    /// their entities, and tries again to remove them with later removals and after a restart.
    var hasNotedRemovals: Bool { get }
    /// What has gone wrong without ending a call.
    var ownProblems: CacheProblems { get }
}

extension SealedEntityCache: RemovalNoting {
    var storeName: String { (cache as? any RemovalNoting)?.storeName ?? "\(type(of: cache))" }
    package var hasNotedRemovals: Bool { (cache as? any RemovalNoting)?.hasNotedRemovals ?? false }
    package var ownProblems: CacheProblems { (cache as? any RemovalNoting)?.ownProblems ?? CacheProblems() }
}
