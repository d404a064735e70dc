import EssentialsHTTP
import EssentialsRequests
import Logging
import Synchronization

/// The entity caches of a service: one ``CacheAccess`` for each, whoever uses it.
final class EntityCaching: Sendable {
    private struct State {
        var accesses: [ObjectIdentifier: CacheAccess] = [:]
        var hasLoggedPersonal = false
    }

    /// The number of caches beyond which those that have nothing to write are forgotten. They are found again when they
    /// are used.
    static let maximumAccesses = 256

    /// The cache of the service.
    let standard: (any EntityCache)?
    private let clock: RequestClock
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter cache: The cache of the service, which is purged even if no load has used it yet.
    init(_ cache: (any EntityCache)?, _ clock: RequestClock, _ logger: Logger) {
        (standard, self.clock, self.logger) = (cache, clock, logger)
        if let cache { _ = access(to: cache) }
    }

    /// The access to a cache. It keeps the cache as long as the service lives, so that what waits for it is written.
    func access(to cache: any EntityCache) -> CacheAccess {
        let (access, forgotten) = state.withLock { state -> (CacheAccess, [CacheAccess]) in
            let id = ObjectIdentifier(cache)
            if let access = state.accesses[id] { return (access, []) }
            let forgotten = state.accesses.count < Self.maximumAccesses ? [] : takeIdle(&state)
            let access = CacheAccess(cache, clock, logger)
            state.accesses[id] = access
            return (access, forgotten)
        }
        // The last references to caches may end here, without the lock.
        withExtendedLifetime(forgotten) {}
        return access
    }

    /// Takes out those that have nothing to write, except the one of the service.
    private func takeIdle(_ state: inout State) -> [CacheAccess] {
        let kept = standard.map { ObjectIdentifier($0) }
        let idle = state.accesses.filter { $0.key != kept && $0.value.isIdle }
        for id in idle.keys { state.accesses[id] = nil }
        return Array(idle.values)
    }

    /// The number of caches that are kept.
    var accessCount: Int { accesses.count }

    /// Removes entities from the caches in memory: half of them, or all if the pressure is critical.
    func relieve(_ pressure: MemoryPressure) {
        for case let cache as MemoryEntityCache in accesses.map(\.cache) {
            cache.trim(part: pressure == .critical ? 1 : 0.5)
        }
    }

    private var accesses: [CacheAccess] { state.withLock { Array($0.accesses.values) } }

    /// What has gone wrong with all caches.
    var problems: CacheProblems { accesses.reduce(CacheProblems()) { $0.adding($1.problems) } }

    /// Lets no entity of a scope be found any more, at once. It is called before resources are wiped, so that no resource
    /// which is created meanwhile finds one, and is followed by ``removeAll(in:)``.
    func forget(_ scope: EntityScope) {
        for access in accesses { access.forget(scope) }
    }

    /// Removes the entities of a scope from the cache of the service and all caches that were used.
    ///
    /// The loads that could store entities of the scope must have been cancelled before.
    ///
    /// - Returns: Whether all caches have done it. One that has failed tries again in the background.
    @discardableResult
    func removeAll(in scope: EntityScope) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for access in accesses { group.addTask { await access.removeAll(in: scope) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Writes what waits for the caches, for at most a time.
    func flush(within deadline: Duration) async {
        let accesses = accesses.filter { !$0.isIdle }
        guard !accesses.isEmpty else { return }
        let promise = FlushPromise()
        let work = Task {
            await withTaskGroup { group in
                for access in accesses { group.addTask { await access.flush() } }
            }
            promise.fulfil()
        }
        let timer = Task { [clock] in
            guard (try? await clock.sleep(for: deadline)) != nil else { return }
            promise.fulfil()
        }
        await promise.wait()
        timer.cancel()
        work.cancel()
    }

    /// Logs once that responses to requests with credentials are not stored.
    func refusedPersonal() {
        let isFirst = state.withLock { state in
            defer { state.hasLoggedPersonal = true }
            return !state.hasLoggedPersonal
        }
        guard isFirst else { return }
        logger.debug(
            "Responses to requests with credentials are not stored, because no partition was entered.",
            metadata: ["category": "cache"])
    }
}

/// Ends the wait for a flush, whether it has ended or its time is over.
private final class FlushPromise: Sendable {
    private let state = Mutex<(isDone: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func fulfil() {
        let waiter = state.withLock { state in
            defer { state = (true, nil) }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waiter = continuation }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
    }
}
