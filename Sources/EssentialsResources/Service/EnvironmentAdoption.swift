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
        _ followers: EventFollowers
    ) {
        (self.environment, self.sender, self.table, self.configurations) = (environment, sender, table, configurations)
        (self.polling, self.followers) = (polling, followers)
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

/// Checks before a request is sent.
extension HTTPResourceService {
    /// - Throws: `closed` after the service was closed.
    func checkOpen() throws(RequestFailure) {
        guard !isClosed else {
            throw RequestFailure(.closed, "The resource service was closed.", remedy: "Create another one.")
        }
    }

    /// Makes sure that a request of one account is not sent with the credentials of the next one.
    ///
    /// - Throws: `authorization` if the credentials were cleared or replaced since, and `cancelled` if another
    ///   environment or partition was entered.
    func checkAdopted(_ environment: AdoptedEnvironment) throws(RequestFailure) {
        try environment.checkCredentials()
        adoptEnvironment()
        guard adoption.isCurrent(environment) else {
            throw RequestFailure(.cancelled, "Another environment or partition was entered before the end of the loop.")
        }
    }

    /// Makes sure that a request of one account is not sent with the credentials of the next one.
    ///
    /// - Throws: `cancelled` if another partition was entered since.
    func checkPartition(of environment: AdoptedEnvironment) throws(RequestFailure) {
        guard adoptEnvironment().partition == environment.partition else {
            throw RequestFailure(.cancelled, "Another partition was entered before the request was sent.")
        }
    }
}

/// The environment, the account and the credentials of a service, behind one reference, because every look-up needs
/// them.
///
/// An operation takes one when it begins, such as a load, a write, a loop over pages, a cache read or a followed
/// stream. It uses it for all requests, keys, saves and removals, even if other accounts or credentials are set
/// meanwhile.
final class AdoptedEnvironment: Sendable {
    let identity: EnvironmentIdentity
    /// The account that the application has entered. A load stores its entity in the partition in which it began.
    let partition: EntityPartition
    /// The number of this environment and account among those that the service has adopted.
    let number: UInt64
    /// The operation's credentials; `nil` if the data-request service is a test double.
    private let context: OperationContext?

    /// Creates it from the current environment.
    convenience init(of environment: any EnvironmentService, partition: EntityPartition = .shared) {
        self.init(EnvironmentIdentity(of: environment), partition: partition, number: 0)
    }

    init(
        _ identity: EnvironmentIdentity, partition: EntityPartition, number: UInt64, context: OperationContext? = nil
    ) {
        (self.identity, self.partition, self.number, self.context) = (identity, partition, number, context)
    }

    /// Returns the same environment and account in another scope of credentials.
    func entering(_ context: OperationContext) -> AdoptedEnvironment {
        AdoptedEnvironment(identity, partition: partition, number: number, context: context)
    }

    var versioned: VersionedSnapshot { identity.versioned }
    var snapshot: EnvironmentSnapshot { identity.snapshot }
    /// The scope of the credentials of the environment's origin.
    var scope: CredentialScope? { context?.scope }

    /// Whether the credentials were cleared or replaced. Operations that began with them then send, show and store
    /// nothing any more.
    var hasEnded: Bool { scope?.hasEnded ?? false }

    /// Whether the entities of the account may be read, written and removed. After other credentials were set, this is
    /// not allowed until the account is entered again.
    var admitsEntities: Bool {
        guard let context else { return true }
        return !context.hasEnded && context.admits(partition)
    }

    /// - Throws: `authorization` if the credentials were cleared or replaced since.
    func checkCredentials() throws(RequestFailure) {
        guard hasEnded else { return }
        throw CredentialScope.endedFailure(host: snapshot.baseURL.origin.host.text)
    }
}
