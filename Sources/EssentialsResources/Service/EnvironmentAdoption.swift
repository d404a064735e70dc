import EssentialsRequests
import EssentialsTools

/// Brings the resources of a service into the current environment.
///
/// The environment is checked at each use, so the first use after a change sees the new one. A task follows the changes
/// as well, for resources that are observed but not used otherwise.
///
/// This is a separate object so that the task's weak reference does not lead to the service. Retaining an object takes
/// several times as long if a weak reference to it exists, and every handle retains the service.
final class EnvironmentAdoption: Sendable {
    private let environment: any EnvironmentService
    /// Holds the credentials; `nil` if the data-request service is a test double.
    private let sender: HTTPDataRequestService?
    private let table: ResourceTable
    private let configurations: ConfigurationStore
    private let polling: PollingTimer
    private let followers: EventFollowers
    private let observers: OwnedObservers
    /// The environment whose base URL the table uses.
    private let adopted: Mutex<AdoptedEnvironment>
    /// The version of that environment.
    private let adoptedVersion: Atomic<UInt64>
    /// The number of that environment, or the number of the next one while old content is being removed.
    private let currentNumber: Atomic<UInt64>

    /// Stands for the version of an environment that does not count its changes.
    private static let uncounted = UInt64.max

    /// Creates the object for a table that already uses an environment.
    init(
        _ current: AdoptedEnvironment, of environment: any EnvironmentService, _ sender: HTTPDataRequestService?,
        _ table: ResourceTable, _ configurations: ConfigurationStore, _ polling: PollingTimer,
        _ followers: EventFollowers, _ observers: OwnedObservers
    ) {
        (self.environment, self.sender, self.table, self.configurations) = (environment, sender, table, configurations)
        (self.polling, self.followers, self.observers) = (polling, followers, observers)
        adopted = Mutex(current)
        adoptedVersion = Atomic(current.versioned.version ?? Self.uncounted)
        currentNumber = Atomic(current.number)
    }

    /// Adopts each change of the environment until the task is cancelled or the environment is released. The task keeps
    /// nothing alive.
    func follow() -> Task<Void, Never> {
        .counted { [weak self, changes = environment.changes] in
            // The environment may have changed before the sequence began.
            self?.adopt()
            for await _ in changes { self?.adopt() }
        }
    }

    /// Makes sure that the current environment is used. It takes no lock if the environment counts its changes.
    @inline(__always)
    func check() {
        if let version = environment.version, version == adoptedVersion.load(ordering: .acquiring) { return }
        adopt()
    }

    /// Whether an environment and its account are still in use.
    func isAdopted(_ environment: AdoptedEnvironment) -> Bool { adopted.withLock { $0.number == environment.number } }

    /// Whether an environment and its account are still in use. It takes no lock. If content is set under the lock of a
    /// resource after this was true, it is removed with the content of the old environment.
    func isCurrent(_ environment: AdoptedEnvironment) -> Bool {
        currentNumber.load(ordering: .acquiring) == environment.number
    }

    /// Adopts the current environment and credentials. If the environment has changed, the resources below the old base
    /// URL move below the new one, without content.
    ///
    /// All of this happens under a lock, so that no load begins for a URL of one environment and ends in the other. The
    /// observers are notified outside the lock.
    ///
    /// - Parameters:
    ///   - partition: The partition to enter as well; `nil` keeps the current one. Entering another one removes the
    ///     content of all resources.
    ///   - anew: Whether the partition is entered even if it is the current one.
    /// - Returns: The environment.
    @discardableResult
    func adopt(entering partition: EntityPartition? = nil, anew: Bool = false) -> AdoptedEnvironment {
        inScope(adoptEnvironment(entering: partition, anew: anew))
    }

    /// Returns the environment with the current credentials.
    private func inScope(_ environment: AdoptedEnvironment) -> AdoptedEnvironment {
        guard let context = sender?.operation(in: environment.identity, begun: .now),
            context.scope !== environment.scope
        else { return environment }
        let renewed = environment.entering(context)
        let replaced = adopted.withLock { adopted -> AdoptedEnvironment? in
            // Another thread has adopted another environment meanwhile. That one is for later operations.
            guard adopted.number == renewed.number else { return nil }
            defer { adopted = renewed }
            return adopted
        }
        _ = consume replaced
        return renewed
    }

    private func adoptEnvironment(entering partition: EntityPartition?, anew: Bool) -> AdoptedEnvironment {
        typealias Adoption = (current: AdoptedEnvironment, old: AdoptedEnvironment, moved: [MovedResource]?)
        let (current, old, moved) = adopted.withLock { adopted -> Adoption in
            let entered = partition ?? adopted.partition
            let isEntered = anew || entered != adopted.partition
            let isCurrent = adopted.versioned.isCurrent(in: environment)
            if isCurrent, !isEntered { return (adopted, adopted, nil) }
            let identity = isCurrent ? adopted.identity : EnvironmentIdentity(of: environment)
            let isSame = identity.snapshot == adopted.snapshot && !isEntered
            // If the environment has changed and changed back, running operations continue.
            let current = AdoptedEnvironment(
                identity, partition: entered, number: isSame ? adopted.number : adopted.number + 1)
            currentNumber.store(current.number, ordering: .releasing)
            var moved: [MovedResource] = []
            if current.snapshot != adopted.snapshot {
                let (old, base) = (table.base, ResourceBase(current.snapshot.baseURL))
                moved = table.move(to: base)
                for moved in moved { observers.note(moved.core) }
                configurations.move(from: old, to: base)
            }
            if isEntered {
                let done = Set(moved.map { ObjectIdentifier($0.core) })
                for core in table.cores where !done.contains(ObjectIdentifier(core)) {
                    moved.append(core.leave(.partition))
                }
            }
            let old = adopted
            adopted = current
            adoptedVersion.store(current.versioned.version ?? Self.uncounted, ordering: .releasing)
            return (current, old, isSame ? nil : moved)
        }
        // Settings of the application may be released with the old environment, outside the lock.
        _ = consume old
        guard let moved else { return current }
        for moved in moved {
            table.recount(moved.core)
            moved.finish()
        }
        polling.service?.reconfigurePolling()
        followers.reconnect()
        // All of them belong to one service.
        let observed = moved.filter { $0.service != nil }
        observed.first?.service?.reload(observed.map(\.core))
        return current
    }
}

extension HTTPResourceService {
    /// Loads observed resources again after a change of the environment or the partition, a few at a time. No resource
    /// is left out. A resource that still waits because of an earlier change is loaded once.
    func reload(_ cores: [ResourceCore]) {
        let prefetch = ResourcePrefetch(cores.count)
        reloading.add(
            cores.map { core in
                PrefetchQueue.Member(prefetch: prefetch, begin: { self.beginReload(of: core) }, core: core)
            })
    }

    private func beginReload(of known: ResourceCore) -> (run: LoadRun, leave: @Sendable () -> Void)? {
        let environment = adoptEnvironment()
        let core = observers.swept(known.current)
        guard !isClosed else { return nil }
        guard core.observerCount > 0 else {
            loadLog.note(.unobserved, core)
            return nil
        }
        let now = time.now
        let need = core.beginLoadIfNeeded(
            of: nil, isAwaited: false, isStarted: false, at: now, in: environment,
            usesCache: usesCaches(for: core))
        loadLog.note(need, core, at: now)
        switch need {
        case .nothing: return nil
        case .running(let run): return (run, {})
        case .new(let run, let wish):
            start(run, of: core, wish)
            return (run, {})
        }
    }
}

/// A resource whose content was removed by a change of environment or partition, and the loads that this has ended.
struct MovedResource: Sendable {
    let core: ResourceCore
    let ended: [LoadRun]
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
