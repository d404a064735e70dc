import EssentialsTools

/// The observer objects of a service's resources.
///
/// The release of an owner cannot be observed, so owners are examined: at each change and each look-up of their
/// resource, and when unused resources are dropped. In addition, two observers are examined for each added observer and
/// for each new resource. This limits what released owners can leave behind.
///
/// The list holds the resources, so a resource with an observer object is never dropped. The observers do not hold
/// their resource, so a service that is released without being closed leaves nothing behind.
///
/// An observer stays listed under the resource to which it was added, even if that resource was merged with another
/// one; see ``ForwardedResource``.
final class OwnedObservers: Sendable {
    fileprivate struct Entry: Sendable {
        let core: ResourceCore
        /// The identity of the observer.
        let observer: ObjectIdentifier
        let number: UInt64
        let receiver: any OwnedObserver
    }

    fileprivate struct State: Sendable {
        var entries: [Entry] = []
        /// The indices of a resource's entries by the identity of the observer, for each resource.
        var indices: [ObjectIdentifier: [ObjectIdentifier: Int]] = [:]
        /// The listed resources that are forwarded to another one.
        var forwarded: [ObjectIdentifier: ResourceCore] = [:]
        /// The position of the examination.
        var cursor = 0
    }

    private let state = Mutex(State())

    /// Adds an observer, or another owner of an observer.
    func add<Observer: ResourceObserver>(
        _ observer: Observer, _ owner: (any AnyObject & Sendable)?, to resource: Resource<Observer.Content>
    ) -> ObserverToken {
        sweepSome()
        let (service, core) = (resource.service, resource.core)
        let configuration = service.effective(for: core)
        let id = ObjectIdentifier(observer)
        // This is code of the observer, which is not called under the lock.
        let reportsProgress = observer.reportsProgress
        let (entry, replaced) = state.withLock { state in
            if let entry = state.entry(id, of: core),
                let receiver = entry.receiver as? OwnedReceiver<Observer>, receiver.add(owner, of: observer)
            {
                return (entry, nil as (any OwnedObserver)?)
            }
            let receiver = OwnedReceiver(
                observer, reportsProgress: reportsProgress,
                Resource<Observer.Content>(service: service, core: core))
            _ = receiver.add(owner, of: observer)
            let number = core.addSilently(receiver, configuration, service) { receiver.setNumber($0) }
            let entry = Entry(core: core, observer: id, number: number, receiver: receiver)
            return (entry, state.add(entry)?.receiver)
        }
        replaced?.end()
        // This delivers `attached`, unless another thread is delivering.
        core.current.deliverPending()
        core.current.raiseLoads()
        let token = ObserverToken(
            resource: AnyResource(service: service, core: entry.core), observer: id, number: entry.number)
        // Closing the service ends the observers that exist then. An observer that is added later ends itself.
        if resource.service.isClosed { token.remove() }
        resource.service.readCachesForObserver(of: resource.core)
        return token
    }

    /// Records a resource that may now be forwarded to another one.
    func note(_ core: ResourceCore) {
        guard core.flags.current.contains(.isForwarded) else { return }
        // The flag of the resource does not show whether there are entries, because one may be about to be added.
        state.withLock { state in
            guard state.indices[ObjectIdentifier(core)] != nil else { return }
            state.forwarded[ObjectIdentifier(core)] = core
            core.current.hasOwnedObservers.store(true, ordering: .relaxed)
        }
    }

    /// Removes an observer.
    ///
    /// - Parameter core: The resource to which it was added.
    func remove(_ observer: ObjectIdentifier, _ number: UInt64, from core: ResourceCore) {
        let entry = state.withLock { $0.listed(observer, of: ObjectIdentifier(core)) }
        if let entry, entry.number == number { entry.receiver.end() }
    }

    /// Removes an owner from the observers of a resource.
    func remove(ownedBy owner: AnyObject, from core: ResourceCore) {
        for entry in entries(of: core) { entry.receiver.remove(owner: ObjectIdentifier(owner)) }
    }

    /// Forgets an observer that has ended.
    func forget(_ observer: ObjectIdentifier, _ number: UInt64, of core: ResourceCore) {
        let released = state.withLock { $0.remove(observer, number, of: core) }
        // The receiver may be released here, outside the lock.
        _ = consume released
    }

    // MARK: Owners that were released

    /// Returns a resource after removing its observers without a living owner.
    func swept(_ core: ResourceCore) -> ResourceCore {
        if core.hasOwnedObservers.load(ordering: .relaxed) { sweep(core) }
        return core
    }

    /// Removes the observers of a resource that have no living owner.
    func sweep(_ core: ResourceCore) {
        guard core.hasOwnedObservers.load(ordering: .relaxed) else { return }
        for entry in entries(of: core) { entry.receiver.sweep() }
        // The last observers that came from another resource may be gone.
        state.withLock { state in
            if state.keys(of: core).isEmpty { core.hasOwnedObservers.store(false, ordering: .relaxed) }
        }
    }

    /// Removes all observers that have no living owner.
    func sweepAll() {
        for entry in state.withLock({ $0.entries }) { entry.receiver.sweep() }
    }

    /// Examines two further observers.
    func sweepSome() {
        let some = state.withLock { state -> [Entry] in
            (0..<min(2, state.entries.count)).map { _ in
                state.cursor = (state.cursor + 1) % state.entries.count
                return state.entries[state.cursor]
            }
        }
        for entry in some { entry.receiver.sweep() }
    }

    private func entries(of core: ResourceCore) -> [Entry] {
        state.withLock { state in
            let indices = state.keys(of: core).flatMap { state.indices[$0, default: [:]].values }
            return indices.map { state.entries[$0] }.sorted { $0.number < $1.number }
        }
    }
}

extension OwnedObservers.State {
    /// The resources under which observers of a resource are listed.
    fileprivate func keys(of core: ResourceCore) -> [ObjectIdentifier] {
        let own = ObjectIdentifier(core)
        let others = forwarded.isEmpty ? [] : forwarded.filter { $0.key != own && $0.value.current === core }.map(\.key)
        return (indices[own] == nil ? [] : [own]) + others
    }

    fileprivate func entry(_ observer: ObjectIdentifier, of core: ResourceCore) -> OwnedObservers.Entry? {
        for key in keys(of: core) { if let entry = listed(observer, of: key) { return entry } }
        return nil
    }

    fileprivate func listed(_ observer: ObjectIdentifier, of core: ObjectIdentifier) -> OwnedObservers.Entry? {
        indices[core]?[observer].map { entries[$0] }
    }

    /// Adds an entry.
    ///
    /// - Returns: The replaced entry.
    fileprivate mutating func add(_ entry: OwnedObservers.Entry) -> OwnedObservers.Entry? {
        let core = ObjectIdentifier(entry.core)
        if let index = indices[core]?[entry.observer] {
            defer { entries[index] = entry }
            return entries[index]
        }
        indices[core, default: [:]][entry.observer] = entries.count
        entries.append(entry)
        entry.core.hasOwnedObservers.store(true, ordering: .relaxed)
        // The resource may have been forwarded meanwhile.
        if entry.core.flags.current.contains(.isForwarded) {
            forwarded[core] = entry.core
            entry.core.current.hasOwnedObservers.store(true, ordering: .relaxed)
        }
        return nil
    }

    /// Removes an entry.
    ///
    /// - Returns: The entry, which the caller releases without the lock.
    fileprivate mutating func remove(
        _ observer: ObjectIdentifier, _ number: UInt64, of core: ResourceCore
    ) -> OwnedObservers.Entry? {
        let id = ObjectIdentifier(core)
        guard let index = indices[id]?[observer], entries[index].number == number else { return nil }
        indices[id]?[observer] = nil
        if indices[id]?.isEmpty == true {
            indices[id] = nil
            forwarded[id] = nil
            core.hasOwnedObservers.store(false, ordering: .relaxed)
        }
        let removed = entries[index]
        let last = entries.removeLast()
        if index < entries.count {
            entries[index] = last
            indices[ObjectIdentifier(last.core)]?[last.observer] = index
        }
        return removed
    }
}
