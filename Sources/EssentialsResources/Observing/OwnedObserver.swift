import EssentialsTools

/// An observer object of one resource, and its owners.
protocol OwnedObserver: ChangeReceiver {
    /// Ends the observation if no owner is alive.
    func sweep()
    /// Removes an owner. The observation ends if there is no other owner.
    func remove(owner: ObjectIdentifier)
    /// Ends the observation.
    func end()
}

/// An observer object of one resource, and its owners.
///
/// Weak references are examined without the lock, or only where the object is known to be alive. The examining thread
/// may hold the last reference to the object, and so run its `deinit`.
final class OwnedReceiver<Observer: ResourceObserver>: OwnedObserver {
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

    init(_ observer: Observer, reportsProgress: Bool, _ resource: Resource<Observer.Content>) {
        core = resource.core
        id = ObjectIdentifier(observer)
        self.reportsProgress = reportsProgress
        state = Mutex(State(service: resource.service, observer: observer))
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

    var keepsService: Bool { false }

    var livingService: HTTPResourceService? { state.withLock { $0.service } }

    // MARK: Changes

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
        service.observers.forget(id, number, of: core)
        core.remove(observer: number)
        observer?.stoppedObserving(Resource<Observer.Content>(service: service, core: core.current))
    }
}
