import EssentialsRequests
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

extension ResourceCore {
    /// The resource to which this one refers now: itself, unless it is forwarded. This takes no lock.
    var current: ResourceCore { flags.current.contains(.isForwarded) ? forwarded : self }

    /// The flags of the resource to which this one leads. This is rare, so it is kept out of the code that reads flags.
    @inline(never)
    var forwardedFlags: ResourceFlags.Bits { current.flags.current }

    @inline(never)
    private var forwarded: ResourceCore { contents.withLock { $0.forward }?.end ?? self }

    /// Changes the address of this resource, and merges another resource with the same address into it. Both lose
    /// content and failure.
    ///
    /// The loads of both are cancelled. Writes continue, but no longer change the state. The observers of the other
    /// resource follow when it has delivered its changes; see ``Contents/handOver()``.
    ///
    /// - Returns: Both resources. ``MovedResource/finish()`` notifies their observers.
    func absorb(_ other: ResourceCore, at address: ResourceURL) -> [MovedResource] {
        // The lock of a forwarded resource is always taken before that of the resource to which it leads.
        other.contents.withLock { lost in
            contents.withLock { kept in
                let (keptLoaded, lostLoaded) = (kept.facts.wasLoaded, lost.facts.wasLoaded)
                let (keptContent, lostContent) = (Displaced(kept), Displaced(lost))
                lost.address = address
                kept.address = address
                let (lostRuns, keptRuns) = (lost.takeRuns(), kept.takeRuns())
                // The versions that the moved observers see continue to rise, and no load number is used by both
                // resources. The change by which the other resource is wiped is still delivered.
                let last = max(kept.facts.version, lost.facts.version)
                lost.facts.version = last
                _ = other.endSession(&lost, .environment)
                kept.facts.version = lost.facts.version
                kept.machine.advance(past: lost.machine.last)
                lost.machine.retire()
                _ = endSession(&kept, .environment)
                flags.begin(at: lost.facts.version)
                kept.take(from: &lost)
                lost.forward = ForwardedResource(to: self, isReloaded: lostLoaded)
                other.writeFlags(lost.facts, isForwarded: true)
                writeFlags(kept.facts, isForwarded: false)
                return [
                    MovedResource(
                        core: self, ended: keptRuns, service: keptLoaded ? kept.reloadingService : nil,
                        displaced: keptContent),
                    MovedResource(core: other, ended: lostRuns, service: nil, displaced: lostContent),
                ]
            }
        }
    }
}

extension ResourceFacts {
    /// Whether the resource was loaded or its content was set.
    var wasLoaded: Bool { entity != nil || failure != nil || loads > 0 }
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
        let configuration = service.effective(for: target)
        target.changing { $0.noteConfiguration(configuration, service) }
        if isReloaded { service.reload([target]) }
    }
}

extension ResourceCore.Contents {
    /// Takes the views, the definition and the requests of a resource that is forwarded to this one. Both were just
    /// wiped.
    fileprivate mutating func take(from other: inout Self) {
        // The observers find a snapshot of their content type here, still without content.
        for view in other.views where views.object(of: view.contentType) == nil {
            views.append(ResourceView(view.snapshot.next(facts, .remove)))
        }
        // Without views the other resource is never found fresh, and its handles find their snapshot by a slower path.
        other.views = []
        if definition == nil { definition = other.definition }
        requests = (requests + other.requests).sorted { $0.number < $1.number }
        other.requests = []
    }

    /// Moves the observers to the resource to which this one is forwarded, after all earlier changes were delivered to
    /// them. They receive `attached` there. No change reaches an observer twice or from two threads at once.
    mutating func handOver() -> MovedObservers? {
        guard let forward, observers.count > 0 else { return nil }
        let service = reloadingService
        let members = observers.takeAll()
        (observingService, keepers) = (nil, 0)
        var target = forward.end
        while !target.contents.withLock({ $0.receive(members, polling, service) }) { target = target.current }
        return MovedObservers(target: target, service: service, isReloaded: forward.isReloaded)
    }

    /// Receives the observers of another resource.
    ///
    /// - Returns: `false` if this resource is forwarded itself. Nothing has happened then.
    private mutating func receive(
        _ members: [ObserverList.Member], _ old: ResourcePolling?, _ service: HTTPResourceService?
    ) -> Bool {
        guard forward == nil else { return false }
        let intervals = members.map { old?.refresh(of: $0.number) }
        if polling == nil, intervals.contains(where: { $0 != nil }), let service {
            beginPolling(service, observers: observers.count)
        }
        for (member, interval) in zip(members, intervals) {
            old?.note(.left(number: member.number))
            polling?.note(.joined(interval, number: member.number))
        }
        observers.insert(members, since: facts.version)
        keepers += Int32(truncatingIfNeeded: members.count { $0.receiver.keepsService })
        if observingService == nil, keepers > 0 { observingService = service }
        showProgress()
        for member in members { enqueue(.attached, target: member.number) }
        return true
    }
}
