import EssentialsTools

/// The observer objects of a service's resources.
///
/// To its resource, an observer object is a receiver like any other, which ends its observation by itself. The release
/// of an owner cannot be observed, so owners are examined: at each change and each look-up of their resource, and when
/// unused resources are dropped. In addition, two observers are examined for each added observer and for each new
/// resource. This limits what released owners can leave behind.
///
/// The list holds the resources, so a resource with an observer object is never dropped. The observers do not hold
/// their resource, so a service that is released without being closed leaves nothing behind.
final class OwnedObservers: Sendable {
    private struct Entry: Sendable {
        /// The resource to which the observer was added. It may have been merged with another one since.
        let core: ResourceCore
        /// The identity of the observer.
        let observer: ObjectIdentifier
        let receiver: any OwnedObserver
    }

    private struct State: Sendable {
        /// The observers by their numbers, which differ in all resources.
        var entries: [UInt64: Entry] = [:]
        /// The numbers of an observer's entries.
        var numbers: [ObjectIdentifier: Set<UInt64>] = [:]
        /// The numbers in the order of their examination. Some may belong to observers that have ended.
        var turns = Fifo<UInt64>()

        /// Removes an entry, which the caller releases without the lock.
        mutating func remove(_ number: UInt64) -> Entry? {
            guard let entry = entries.removeValue(forKey: number) else { return nil }
            numbers[entry.observer]?.remove(number)
            if numbers[entry.observer]?.isEmpty == true { numbers[entry.observer] = nil }
            return entry
        }
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
        let (number, listed, replaced) = state.withLock { state -> (UInt64, ResourceCore, Entry?) in
            let known = state.numbers[id]?.first { state.entries[$0]?.core.current === core }
            if let known, let entry = state.entries[known],
                let receiver = entry.receiver as? OwnedReceiver<Observer>, receiver.add(owner, of: observer)
            {
                return (known, entry.core, nil)
            }
            let replaced = known.flatMap { state.remove($0) }
            let receiver = OwnedReceiver(observer, reportsProgress: reportsProgress, core, service)
            _ = receiver.add(owner, of: observer)
            let number = core.addSilently(receiver, configuration, service) { receiver.setNumber($0) }
            state.entries[number] = Entry(core: core, observer: id, receiver: receiver)
            state.numbers[id, default: []].insert(number)
            state.turns.append(number)
            return (number, core, replaced)
        }
        replaced?.receiver.end()
        // This delivers `attached`, unless another thread is delivering.
        core.current.deliverPending()
        core.current.raiseLoads()
        let token = ObserverToken(resource: AnyResource(service: service, core: listed), number: number)
        // Closing the service ends the observers that exist then. An observer that is added later ends itself.
        if service.isClosed { token.remove() }
        service.readCachesForObserver(of: resource.core)
        return token
    }

    /// Removes an observer.
    func remove(_ number: UInt64) { state.withLock { $0.entries[number] }?.receiver.end() }

    /// Removes an owner from the observers of a resource. This takes time linear in the number of observer objects.
    func remove(ownedBy owner: AnyObject, from core: ResourceCore) {
        let entries = state.withLock { $0.entries.filter { $0.value.core.current === core } }
        for entry in entries.sorted(by: { $0.key < $1.key }) {
            entry.value.receiver.remove(owner: ObjectIdentifier(owner))
        }
    }

    /// Forgets an observer that has ended.
    func forget(_ number: UInt64) {
        let released = state.withLock { $0.remove(number) }
        // The receiver may be released here, outside the lock.
        _ = consume released
    }

    /// Removes all observers that have no living owner.
    func sweepAll() {
        for entry in state.withLock({ Array($0.entries.values) }) { entry.receiver.sweep() }
    }

    /// Examines two further observers.
    func sweepSome() {
        let some = state.withLock { state -> [Entry] in
            (0..<2).compactMap { _ in
                guard let number = state.turns.popFirst(), let entry = state.entries[number] else { return nil }
                state.turns.append(number)
                return entry
            }
        }
        for entry in some { entry.receiver.sweep() }
    }
}

/// An observer object of one resource, and its owners.
private protocol OwnedObserver: ChangeReceiver {
    /// Removes an owner. The observation ends if there is no other owner.
    func remove(owner: ObjectIdentifier)
    /// Ends the observation.
    func end()
}

/// An observer object of one resource, and its owners.
///
/// Weak references are examined without the lock, or only where the object is known to be alive. The examining thread
/// may hold the last reference to the object, and so run its `deinit`.
private final class OwnedReceiver<Observer: ResourceObserver>: OwnedObserver {
    private struct Owner {
        weak var object: (any AnyObject & Sendable)?
        let id: ObjectIdentifier
        /// Distinguishes an owner from an earlier one that was released and had the same address.
        let serial: UInt64
    }

    private struct State {
        /// The service. An observer does not keep it alive, and its cores are released with it.
        weak var service: HTTPResourceService?
        weak var observer: Observer?
        /// A strong reference to the observer, as long as it has an owner other than itself.
        var held: Observer?
        /// The owners other than the observer.
        var owners: [Owner] = []
        var isItsOwnOwner = false
        var lastSerial: UInt64 = 0
        /// The number in the resource's list of observers.
        var number: UInt64 = 0
        var isEnded = false
    }

    /// The resource. This object is called only by the resource and by the service's ``OwnedObservers``, which hold it.
    private unowned let core: ResourceCore
    private let id: ObjectIdentifier
    let reportsProgress: Bool
    private let state: Mutex<State>
    #if DEBUG
        private let mark = LiveMark(.ownedObserver)
    #endif

    init(_ observer: Observer, reportsProgress: Bool, _ core: ResourceCore, _ service: HTTPResourceService) {
        (self.core, id, self.reportsProgress) = (core, ObjectIdentifier(observer), reportsProgress)
        state = Mutex(State(service: service, observer: observer))
    }

    /// Sets the number in the resource's list of observers. It is called under the lock of the resource.
    func setNumber(_ number: UInt64) { state.withLock { $0.number = number } }

    /// Adds an owner.
    ///
    /// - Parameters:
    ///   - owner: The owner; `nil` means the observer itself.
    ///   - observer: The observer.
    /// - Returns: Whether the observation continues. It does not if it has ended, or if it belongs to another object
    ///   that had the same address.
    func add(_ owner: (any AnyObject & Sendable)?, of observer: Observer) -> Bool {
        state.withLock { state in
            // The weak reference is empty or leads to the observer, which the caller holds.
            guard !state.isEnded, state.observer != nil else { return false }
            guard let owner, owner !== observer else {
                state.isItsOwnOwner = true
                return true
            }
            let id = ObjectIdentifier(owner)
            state.owners.removeAll { $0.id == id }
            state.lastSerial += 1
            state.owners.append(Owner(object: owner, id: id, serial: state.lastSerial))
            state.held = observer
            return true
        }
    }

    var endsByItself: Bool { true }

    var livingService: HTTPResourceService? { state.withLock { $0.service } }

    func receive(_ change: PendingChange) {
        guard let observer = living(), let service = livingService else { return }
        let resource = Resource<Observer.Content>(service: service, core: core.current)
        if let change = resource.change(change) { observer.resourceChanged(change, of: resource) }
    }

    // MARK: End

    func finish() { end() }

    func sweep() { _ = living() }

    func remove(owner: ObjectIdentifier) {
        let released = state.withLock { state -> Observer? in
            state.owners.removeAll { $0.id == owner }
            if owner == id { state.isItsOwnOwner = false }
            guard state.owners.isEmpty, state.isItsOwnOwner else { return nil }
            return state.held.take()
        }
        // The observer may be released here, outside the lock.
        _ = consume released
        _ = living()
    }

    func end() {
        let (isFirst, observer) = state.withLock { state in
            defer { state.isEnded = true }
            return (!state.isEnded, state.held.take() ?? state.observer)
        }
        if isFirst { leave(observer) }
    }

    /// The observer, if it and one of its owners are alive. Otherwise the observation ends.
    private func living() -> Observer? {
        let owners = state.withLock { $0.owners }
        let dead = owners.filter { $0.object == nil }.map(\.serial)
        let verdict = state.withLock { state -> Verdict in
            guard !state.isEnded else { return .ended }
            if !dead.isEmpty { state.owners.removeAll { dead.contains($0.serial) } }
            if !state.owners.isEmpty { return .lives(state.held) }
            if state.isItsOwnOwner { return .ownsItself(released: state.held.take()) }
            state.isEnded = true
            return .ends(state.held.take() ?? state.observer)
        }
        switch consume verdict {
        case .ended: return nil
        case .lives(let observer): return observer
        case .ends(let observer):
            leave(observer)
            return nil
        case .ownsItself(let released):
            // The strong reference that a released owner has left does not keep the observer alive.
            _ = consume released
            let observer = state.withLock { $0.observer }
            if observer == nil { end() }
            return observer
        }
    }

    private enum Verdict {
        case lives(Observer?)
        case ownsItself(released: Observer?)
        case ends(Observer?)
        case ended
    }

    /// Leaves the resource, and notifies the observer unless it was released.
    private func leave(_ observer: Observer?) {
        let (service, number) = state.withLock { ($0.service, $0.number) }
        guard let service else { return core.remove(observer: number) }
        // The resource stays alive during the call.
        let core = core
        service.observers.forget(number)
        core.remove(observer: number)
        observer?.stoppedObserving(Resource<Observer.Content>(service: service, core: core.current))
    }
}
