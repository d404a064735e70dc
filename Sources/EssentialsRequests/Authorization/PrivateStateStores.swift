import EssentialsHTTP
import EssentialsTools

/// The private-state stores of a service: those of its configuration, and those that have joined it since.
final class PrivateStateStores: Sendable {
    typealias JoinedStore = any PrivateStateStore & AnyObject

    private struct Member {
        weak var store: JoinedStore?
    }

    private let configured: [any PrivateStateStore]
    private let limit: Int
    /// In the order of joining.
    private let members = Mutex<[Member]>([])

    /// - Parameters:
    ///   - configured: The stores of the configuration, which are held strongly.
    ///   - limit: The maximum number of living stores that may join.
    init(_ configured: [any PrivateStateStore], limit: Int) {
        self.configured = configured
        self.limit = limit
    }

    /// The number of stores that have joined, including those that have died since they were last looked for.
    var memberCount: Int { members.withLock { $0.count } }

    /// Adds a store, unless it has joined already.
    ///
    /// - Throws: `resources` if there are too many living stores.
    func add(_ store: JoinedStore) throws(RequestFailure) {
        let (hasJoined, living) = members.withLock { members -> (Bool, [JoinedStore]) in
            let living = Self.sweep(&members)
            if living.contains(where: { $0 === store }) { return (true, living) }
            guard members.count < limit else { return (false, living) }
            members.append(Member(store: store))
            return (true, living)
        }
        // The references end here, without the lock.
        withExtendedLifetime(living) {}
        guard hasJoined else {
            throw RequestFailure(
                .resources, "The service has \(limit) private-state stores already.",
                remedy: "Release stores that are no longer used, or let several share one.")
        }
    }

    /// All living stores, in the order in which they are notified.
    private var stores: [any PrivateStateStore] { configured + members.withLock { Self.sweep(&$0) } }

    /// The time after which a logout no longer waits for stores.
    static let patience = Duration.seconds(5)

    /// Clears the private state of an origin in all stores. They begin in their order, on the calling thread, and go on
    /// at the same time. The function returns when all have ended, or after ``patience``; those that take longer go on.
    func clear(_ origin: Origin, _ clock: RequestClock) async {
        let stores = stores
        guard !stores.isEmpty else { return }
        let promise = OneShot<Void>()
        let countdown = Countdown(stores.count)
        for store in stores {
            Task.immediate {
                await store.clearPrivateState(of: origin)
                if countdown.isLast() { promise.provide(()) }
            }
        }
        await promise.value(within: Self.patience, clock, otherwise: ())
    }

    /// The credentials of an origin were replaced by others.
    func replaceCredentials(of origin: Origin) {
        for store in stores { store.credentialsWereReplaced(at: origin) }
    }

    /// Credentials were set where there were none or others.
    func credentialsWereSet(at origin: Origin) {
        for case let follower as any CredentialsFollower in stores { follower.credentialsWereSet(at: origin) }
    }

    /// An account that was suspended was entered again.
    func accountWasEntered(_ account: EntityPartition, at origin: Origin) {
        for case let follower as any AccountFollower in stores { follower.accountWasEntered(account, at: origin) }
    }

    /// Removes the dead stores and returns the living ones.
    ///
    /// The caller keeps the result until the lock is free. Otherwise a store whose last other owner releases it now would
    /// be deallocated under the lock, and its `deinit` could call this object.
    private static func sweep(_ members: inout [Member]) -> [JoinedStore] {
        let living = members.compactMap(\.store)
        if living.count < members.count { members = living.map { Member(store: $0) } }
        return living
    }
}

/// Counts the stores that have not ended yet.
private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    /// One more has ended. Returns whether it was the last one.
    func isLast() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
