import EssentialsTools

/// Forwards a resource that was merged with another one.
///
/// After a change of the base URL, two resources can have the same URL: one that lay below the old base, and one that
/// was obtained by its whole URL. The first one stays. The other one is removed from the table for ever, and all its
/// handles lead to the first one.
final class ForwardedResource: Sendable {
    /// The resource that has replaced this one. It can later be forwarded itself.
    let next: ResourceCore
    /// Whether the content is loaded again for the observers, because this resource had been loaded.
    let isReloaded: Bool
    /// The last resource that was found in the chain.
    private let last: Mutex<ResourceCore>

    init(to next: ResourceCore, isReloaded: Bool) {
        (self.next, self.isReloaded) = (next, isReloaded)
        last = Mutex(next)
    }

    /// The resource at the end of the chain. Reading it shortens the chain.
    var end: ResourceCore {
        let known = last.withLock { $0 }
        let end = known.current
        guard end !== known else { return end }
        // The reference may be the last one, so it is released outside the lock.
        let replaced = last.withLock { last in
            defer { last = end }
            return last
        }
        _ = consume replaced
        return end
    }
}

/// Observers that have moved to another resource.
struct MovedObservers: Sendable {
    let target: ResourceCore
    let service: HTTPResourceService?
    let isReloaded: Bool

    /// Delivers `attached` to them. It is called without a lock.
    func finish() {
        target.deliverPending()
        guard let service else { return }
        if service.isClosed { return target.finishObservers() }
        target.note(service.effective(for: target), service)
        if isReloaded { service.reload([target]) }
    }
}

/// A resource whose content was removed by a change of environment or partition, and the loads that this has ended.
struct MovedResource: Sendable {
    let core: ResourceCore
    let ended: [Load]
    /// The service that loads the resource again; `nil` if the resource is not observed, or if nothing had been loaded.
    let service: HTTPResourceService?
    /// The removed values. They are released with this value, without a lock.
    let displaced: Displaced

    /// Cancels the loads, and notifies the observers. It is called without a lock.
    func finish() {
        for run in ended { run.cancel() }
        core.deliverPending()
    }
}
