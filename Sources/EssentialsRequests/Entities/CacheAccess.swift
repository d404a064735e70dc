package import EssentialsHTTP
import EssentialsTools
package import Logging

/// The one way to a cache: reads what waits to be written, writes in the background, and keeps faults from the loads.
///
/// Its lock may be taken under that of a resource, never the other way round, and no cache is called under it.
package final class CacheAccess: Sendable {
    fileprivate struct State {
        var changes = WriteBehind()
        var rest = CacheRest()
        var problems = CacheProblems()
        /// The types that were reported because they have no lasting name.
        var nameless: Set<String> = []
        /// Whether a task works on the changes.
        var isWorking = false
        /// Whether a rest is ignored, because the service ends.
        var isHurried = false
        /// The reads that have not ended.
        var reads = 0
        /// What is called at the end of a removal, by its number.
        var removalWaiters: [(number: UInt64, end: @Sendable (Bool) -> Void)] = []
        /// Provided when nothing is left to do; `nil` if nothing waits for that.
        var rested: OneShot<Void>?
        /// The task that waits for the end of a rest.
        var pause: Task<Void, Never>?
    }

    /// The maximum number of reads at a time. A cache that does not respond would otherwise collect tasks.
    static let maximumReads = 256
    /// The maximum number of those who wait for removals. Beyond it the oldest wait no longer.
    static let maximumWaiters = 256

    /// The maximum number of types without a lasting name that are reported.
    private static let maximumNameless = 64

    package let cache: any EntityCache
    private let clock: RequestClock
    private let logger: Logger
    private let state = Mutex(State())

    package init(_ cache: any EntityCache, _ clock: RequestClock, _ logger: Logger) {
        (self.cache, self.clock, self.logger) = (cache, clock, logger)
    }

    /// What has gone wrong.
    package var problems: CacheProblems {
        let (now, isPersistent) = (clock.now, cache.isPersistent)
        let (problems, hasRemoval) = state.withLock { state in
            var problems = state.problems
            problems.dropped = state.changes.dropped
            problems.resting = state.rest.isResting(at: now) ? 1 : 0
            return (problems, isPersistent && state.changes.hasRemoval)
        }
        let own = (cache as? any RemovalNoting)?.ownProblems ?? CacheProblems()
        guard hasRemoval else { return own.adding(problems) }
        var named = own.adding(problems)
        named.readableAfterRestart = [(cache as? any RemovalNoting)?.storeName ?? "\(type(of: cache))"]
        return named
    }

    /// Whether nothing waits to be written.
    package var isIdle: Bool { state.withLock { $0.changes.isIdle && !$0.isWorking } }

    // MARK: Reading

    /// The entity under a key, also if it waits to be written; `nil` if there is none, or if the cache fails or rests.
    package func entity(for key: EntityKey) async -> StoredEntity? {
        let (begun, now) = (Epoch.now, clock.now)
        let knowledge = state.withLock { state -> WriteBehind.Knowledge in
            let knowledge = state.changes.knowledge(of: key)
            guard case .cached = knowledge else { return knowledge }
            guard !state.rest.isResting(at: now), state.reads < Self.maximumReads else { return .none }
            state.reads += 1
            return knowledge
        }
        guard case .cached(let confirmation) = knowledge else {
            if case .entity(let entity) = knowledge { return entity }
            return nil
        }
        do {
            let entity = try await cache.entity(for: key)
            let wasRemoved = state.withLock { state in
                state.reads -= 1
                state.rest.succeeded()
                return state.changes.wasRemoved(key, since: begun)
            }
            guard !wasRemoved else { return nil }
            return confirmation.flatMap { entity?.revalidated(by: $0) } ?? entity
        } catch {
            state.withLock { $0.reads -= 1 }
            failed("An entity could not be read from a cache.", error)
            return nil
        }
    }

    // MARK: Writing

    /// Adds a change. It is written in the background after ``work()`` was called.
    package func add(_ change: WriteBehind.Change, for key: EntityKey) {
        state.withLock { $0.changes.add(change, for: key) }
    }

    /// Adds a change of an operation that began at a time, unless the entity was removed with a scope since.
    package func add(_ change: WriteBehind.Change, for key: EntityKey, since begun: Epoch) {
        state.withLock { $0.changes.add(change, for: key, since: begun) }
    }

    /// Begins to write what waits, unless a task does it already.
    package func work() {
        let starts = state.withLock { state in
            guard !state.isWorking, !state.changes.isIdle else { return false }
            state.isWorking = true
            return true
        }
        if starts { Task { await self.run() } }
    }

    /// Lets no entity of several scopes be found any more, and removes them in the background.
    ///
    /// - Parameter end: Called with whether the cache has removed them. If it has failed, it tries again.
    package func remove(_ scopes: [EntityScope], _ end: @escaping @Sendable (Bool) -> Void) {
        guard !scopes.isEmpty else { return end(true) }
        let dropped = state.withLock { state in
            var number: UInt64 = 0
            for scope in scopes { number = state.changes.removeAll(in: scope) }
            return state.addWaiter(number, end)
        }
        dropped?(false)
        work()
    }

    /// Removes all entities of a scope, also those that wait. They are not found any more when the function is called.
    ///
    /// - Returns: Whether the cache has removed them. If it has failed, it tries again in the background.
    package func removeAll(in scope: EntityScope) async -> Bool {
        await withCheckedContinuation { continuation in
            remove([scope]) { continuation.resume(returning: $0) }
        }
    }

    /// Adds the removal of a scope. It is made in the background after ``work()`` was called.
    ///
    /// - Parameter end: Called with whether the cache has made it.
    package func addRemoval(of scope: EntityScope, _ end: @escaping @Sendable (Bool) -> Void = { _ in }) {
        let dropped = state.withLock { state in
            let number = state.changes.removeAll(in: scope)
            return state.addWaiter(number, end)
        }
        dropped?(false)
    }

    /// Writes everything that waits. A rest is ended for this.
    package func flush() async {
        let pause = state.withLock { state -> Task<Void, Never>? in
            state.isHurried = true
            return state.pause
        }
        pause?.cancel()
        work()
        let rested = state.withLock { state -> OneShot<Void>? in
            if state.changes.isIdle && !state.isWorking {
                state.isHurried = false
                return nil
            }
            let rested = state.rested ?? OneShot()
            state.rested = rested
            return rested
        }
        await rested?.value()
    }

    @concurrent
    private func run() async {
        while true {
            let now = clock.now
            let rest = state.withLock { $0.isHurried ? nil : $0.rest.end.flatMap { now < $0 ? $0 : nil } }
            if let rest { await pause(until: rest) }
            let (work, rested) = state.withLock { state -> (WriteBehind.Work?, OneShot<Void>?) in
                if let work = state.changes.next() { return (work, nil) }
                state.isWorking = false
                state.isHurried = false
                state.changes.resume()
                return (nil, state.rested.take())
            }
            rested?.provide(())
            guard let work else { return }
            await perform(work)
        }
    }

    private func pause(until end: Duration) async {
        let task = Task { [clock] in _ = try? await clock.sleep(until: end) }
        let isHurried = state.withLock { state in
            state.pause = task
            return state.isHurried
        }
        if isHurried { task.cancel() }
        await task.value
        state.withLock { $0.pause = nil }
    }

    private func perform(_ work: WriteBehind.Work) async {
        do {
            switch work {
            case .change(let key, .store(let entity)): try await cache.store(entity, for: key)
            case .change(let key, .revalidate(let confirmation)): try await cache.revalidated(key, by: confirmation)
            case .change(let key, .remove): try await cache.remove(key)
            case .removeAll(let scope, _): try await cache.removeAll(in: scope)
            }
            end(work, isDone: true)
        } catch {
            // The cache itself hides what it has written down, and tries again to remove it. Other entities are not
            // affected, so it is used as before.
            let isNoted = work.isRemoval && (cache as? any RemovalNoting)?.hasNotedRemovals == true
            failed("A change could not be written to a cache.", error, rests: !isNoted)
            end(work, isDone: false, isNoted: isNoted)
        }
    }

    private func end(_ work: WriteBehind.Work, isDone: Bool, isNoted: Bool = false) {
        let waiters = state.withLock { state -> [@Sendable (Bool) -> Void] in
            if isDone { state.rest.succeeded() }
            // Nothing is tried again while the service ends.
            state.changes.end(isDone: isDone || isNoted, isPostponed: state.isHurried)
            guard case .removeAll(_, let number) = work else { return [] }
            // A later removal may have replaced earlier ones.
            let served = state.removalWaiters.filter { $0.number <= number }.map(\.end)
            state.removalWaiters.removeAll { $0.number <= number }
            return served
        }
        for end in waiters { end(isDone) }
    }

    /// Counts that a type has no name that is the same at the next start of the program, once for each type.
    ///
    /// - Returns: Whether it is the first time.
    @discardableResult
    package func cannotName(_ type: String) -> Bool {
        let isFirst = state.withLock { state in
            guard !state.nameless.contains(type), state.nameless.count < Self.maximumNameless else { return false }
            state.nameless.insert(type)
            state.problems.count += 1
            state.problems.last = "The type \(type) has no name for a key that outlives the process."
            return true
        }
        if isFirst {
            logger.debug(
                "Values of a type are not stored, because it has no lasting name.",
                metadata: ["category": "cache", "type": "\(type)"])
        }
        return isFirst
    }

    /// Counts a fault.
    ///
    /// - Parameter rests: Whether the cache is left alone for a while after several of them.
    private func failed(_ message: Logger.Message, _ error: any Error, rests: Bool = true) {
        let now = clock.now
        let isLogged = state.withLock { state in
            state.problems.count += 1
            state.problems.last = "\(error)"
            return !rests || state.rest.failed(at: now)
        }
        if isLogged { logger.debug(message, metadata: ["category": "cache", "error": "\(error)"]) }
    }
}

extension WriteBehind.Work {
    /// Whether nothing is to be found afterwards.
    fileprivate var isRemoval: Bool {
        switch self {
        case .removeAll, .change(_, .remove): true
        case .change: false
        }
    }
}

extension CacheAccess.State {
    /// Adds what is called at the end of a removal.
    ///
    /// - Returns: What waits no longer for it; `nil` if that is nothing.
    fileprivate mutating func addWaiter(
        _ number: UInt64, _ end: @escaping @Sendable (Bool) -> Void
    ) -> (@Sendable (Bool) -> Void)? {
        removalWaiters.append((number, end))
        return removalWaiters.count > CacheAccess.maximumWaiters ? removalWaiters.removeFirst().end : nil
    }
}
