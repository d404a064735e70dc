import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import Logging

/// The entity caches of a service, with one shared `CacheAccess` for each cache.
final class EntityCaching: Sendable {
    private struct State {
        var accesses: [ObjectIdentifier: CacheAccess] = [:]
        var hasLoggedPersonal = false
        /// The latest removals. A cache makes them when it is used for the first time.
        var removed: [EntityScope] = []
    }

    /// The number of removals that a cache makes exactly when it is first used. Beyond it the cache removes more.
    static let maximumRemoved = EntityScope.maximumParts

    /// The number of caches beyond which those without pending changes are forgotten. They are found again when they
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

    /// The access to a cache. It keeps the cache as long as the service lives, so that pending changes are written.
    func access(to cache: any EntityCache) -> CacheAccess {
        let (access, forgotten) = state.withLock { state -> (CacheAccess, [CacheAccess]) in
            let id = ObjectIdentifier(cache)
            if let access = state.accesses[id] { return (access, []) }
            let forgotten = state.accesses.count < Self.maximumAccesses ? [] : takeIdle(&state)
            let access = CacheAccess(cache, clock, logger)
            state.accesses[id] = access
            // A pipeline's cache can hold entities that were removed before the pipeline was used.
            access.remove(state.removed) { _ in }
            return (access, forgotten)
        }
        // The last references to caches may be released here, without the lock.
        withExtendedLifetime(forgotten) {}
        return access
    }

    /// Takes out the accesses without pending changes, except that to the cache of the service.
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

    /// The problems of all caches.
    var problems: CacheProblems { accesses.reduce(CacheProblems()) { $0.adding($1.problems) } }

    /// Hides the entities of several scopes in the cache of the service and all other caches in use, and removes them
    /// in the background. Entities that come from operations that began earlier are not stored.
    @discardableResult
    func remove(_ scopes: [EntityScope]) -> EntityRemoval {
        guard !scopes.isEmpty else { return EntityRemoval(0, clock) }
        let accesses = state.withLock { state in
            state.removed += scopes
            if state.removed.count > Self.maximumRemoved { state.removed = [.union(state.removed)] }
            return Array(state.accesses.values)
        }
        let removal = EntityRemoval(accesses.count, clock)
        for access in accesses { access.remove(scopes) { removal.end(isDone: $0) } }
        return removal
    }

    /// Writes the pending changes of the caches, for at most the given time.
    func flush(within deadline: Duration) async {
        let accesses = accesses.filter { !$0.isIdle }
        guard !accesses.isEmpty else { return }
        let promise = OneShot<Bool>()
        let work = Task {
            await withTaskGroup { group in
                for access in accesses { group.addTask { await access.flush() } }
            }
            promise.provide(true)
        }
        // This wait does not end with the calling task, because a service is also closed in a cancelled one.
        _ = await promise.value(within: deadline, clock, otherwise: false)
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
