import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// Loads that begin before their content is needed, returned by `prefetch` of a ``ResourceService``.
///
/// ```swift
/// let prefetch = service.prefetch(visibleIDs.map { service.resource("pictures", $0, as: Picture.self) })
/// prefetch.cancel()  // the list was left
/// ```
///
/// Releasing it has no effect: the loads continue.
public final class ResourcePrefetch: Sendable {
    private struct State {
        var waiting: Int
        var running: [UInt64: @Sendable () -> Void] = [:]
        var lastRunning: UInt64 = 0
        var dropped = 0
        var isCancelled = false
    }

    private let state: Mutex<State>
    private let completion = OneShot<Void>()

    init(_ count: Int) {
        state = Mutex(State(waiting: count))
        if count == 0 { completion.provide(()) }
    }

    /// The number of resources that were not loaded, because more than 1,024 of the service were waiting.
    public var dropped: Int { state.withLock { $0.dropped } }

    /// Whether no resource waits or is being loaded.
    public var isCompleted: Bool { state.withLock { $0.waiting == 0 && $0.running.isEmpty } }

    /// Waits until no resource waits or is being loaded, or until the calling task is cancelled.
    public func waitUntilCompleted() async { _ = await completion.valueUnlessCancelled() }

    /// Drops the waiting resources, and cancels the loads that nothing else needs.
    public func cancel() {
        let leave = state.withLock { state in
            state.isCancelled = true
            state.waiting = 0
            defer { state.running = [:] }
            return Array(state.running.values)
        }
        for leave in leave { leave() }
        completion.provide(())
    }

    // MARK: For the queue

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Records that a resource was dropped.
    func drop() {
        advance { state in
            state.dropped += 1
            state.waiting -= 1
        }
    }

    /// Records that a resource did not need a load.
    func skip() { advance { $0.waiting -= 1 } }

    /// Records that a load has begun.
    ///
    /// - Parameter leave: Ends the interest in the load.
    /// - Returns: The number for ``end(_:)``.
    func begin(_ leave: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, isCancelled) = state.withLock { state in
            state.lastRunning += 1
            if !state.isCancelled {
                state.waiting -= 1
                state.running[state.lastRunning] = leave
            }
            return (state.lastRunning, state.isCancelled)
        }
        if isCancelled { leave() }
        return number
    }

    /// Records that a load has ended.
    func end(_ number: UInt64) {
        var leave: (@Sendable () -> Void)?
        advance { state in leave = state.running.removeValue(forKey: number) }
        // Values that the closure holds are released here, without the lock.
        _ = leave
    }

    private func advance(_ change: (inout State) -> Void) {
        let isCompleted = state.withLock { state in
            guard !state.isCancelled else { return true }
            change(&state)
            return state.waiting == 0 && state.running.isEmpty
        }
        if isCompleted { completion.provide(()) }
    }
}

/// The resources of a service that wait for their load in advance.
final class PrefetchQueue: Sendable {
    struct Member: Sendable {
        let prefetch: ResourcePrefetch
        /// Begins the load, and returns it with a closure that ends the interest in it; `nil` if no load is needed.
        let begin: @Sendable () -> (load: Load, leave: @Sendable () -> Void)?
        /// The resource, if it can wait only once in the whole queue; `nil` means that it can wait several times.
        var core: ResourceCore?
    }

    fileprivate struct State {
        var waiting = Fifo<Member>()
        /// The resources that wait only once.
        var waitingOnce: Set<ObjectIdentifier> = []
        var running = 0
        /// Whether a thread is beginning loads.
        var isBeginning = false
    }

    /// The maximum number of loads that run at the same time.
    static let maximumLoads = 4
    /// The maximum number of resources that wait. Beyond it the oldest are dropped.
    static let maximumWaiting = 1_024

    private let state = Mutex(State())
    private let limit: Int

    /// Creates an empty queue.
    ///
    /// - Parameter limit: The maximum number of resources that wait. Use `Int.max` for resources that wait only once.
    init(upTo limit: Int = PrefetchQueue.maximumWaiting) { self.limit = limit }

    /// The number of resources that wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Adds resources at the end of the queue.
    func add(_ members: [Member]) {
        let (dropped, present) = state.withLock { state in
            let present = state.append(members)
            return (state.takeFirst(state.waiting.count - limit), present)
        }
        for member in dropped { member.prefetch.drop() }
        for member in present { member.prefetch.skip() }
        beginLoads()
    }

    private func beginLoads() {
        let isMine = state.withLock { state in
            defer { state.isBeginning = true }
            return !state.isBeginning
        }
        // When a load ends at once, this loop begins the next one, so that calls do not nest.
        while isMine, let member = next() {
            guard !member.prefetch.isCancelled, let (load, leave) = member.begin() else {
                member.prefetch.skip()
                state.withLock { $0.running -= 1 }
                continue
            }
            let number = member.prefetch.begin(leave)
            load.whenEnded { [self] _ in
                member.prefetch.end(number)
                state.withLock { $0.running -= 1 }
                beginLoads()
            }
        }
    }

    private func next() -> Member? {
        state.withLock { state in
            guard state.running < Self.maximumLoads, let member = state.takeFirst(1).first else {
                state.isBeginning = false
                return nil
            }
            state.running += 1
            return member
        }
    }
}

extension PrefetchQueue.State {
    /// Adds members at the end.
    ///
    /// - Returns: The members whose resource is already waiting.
    fileprivate mutating func append(_ members: [PrefetchQueue.Member]) -> [PrefetchQueue.Member] {
        var present: [PrefetchQueue.Member] = []
        for member in members {
            if let core = member.core, !waitingOnce.insert(ObjectIdentifier(core)).inserted {
                present.append(member)
            } else {
                waiting.append(member)
            }
        }
        return present
    }

    /// Removes members from the front.
    fileprivate mutating func takeFirst(_ count: Int) -> [PrefetchQueue.Member] {
        var taken: [PrefetchQueue.Member] = []
        while taken.count < count, let member = waiting.popFirst() {
            if let core = member.core { waitingOnce.remove(ObjectIdentifier(core)) }
            taken.append(member)
        }
        return taken
    }
}

extension ResourceService {
    /// Loads resources in advance if they are not fresh, with the lowest priority and without an observer.
    ///
    /// Each service loads four at a time, while the others wait in order. If the content is needed meanwhile, its load
    /// gets the priority of the task or observer that needs it. Unused content is kept up to the limits of the service.
    ///
    /// - Parameter resources: The resources. At most 1,024 can wait; beyond that, the oldest are dropped and counted.
    /// - Returns: The loads, which can be cancelled.
    @discardableResult
    public func prefetch<Content: Sendable>(_ resources: [Resource<Content>]) -> ResourcePrefetch {
        Self.prefetch(resources.map { ($0.service, $0.prefetchMember) })
    }

    /// Loads resources with contents of different types in advance, like the function for one type.
    ///
    /// ```swift
    /// service.prefetch(shop.cart, shop.user("7"))
    /// ```
    @discardableResult
    public func prefetch<each Content: Sendable>(_ resources: repeat Resource<each Content>) -> ResourcePrefetch {
        var members: [(HTTPResourceService, PrefetchMember)] = []
        for resource in repeat each resources { members.append((resource.service, resource.prefetchMember)) }
        return Self.prefetch(members)
    }

    private static func prefetch(_ members: [(HTTPResourceService, PrefetchMember)]) -> ResourcePrefetch {
        let prefetch = ResourcePrefetch(members.count)
        var rest = members[...]
        // Usually all resources are of one service.
        while let (service, _) = rest.first {
            let group = rest.prefix { $0.0 === service }
            service.prefetching.add(group.map { .init(prefetch: prefetch, begin: $0.1) })
            rest = rest.dropFirst(group.count)
        }
        return prefetch
    }
}

/// Begins the load of a resource in advance.
private typealias PrefetchMember = @Sendable () -> (load: Load, leave: @Sendable () -> Void)?

extension Resource {
    fileprivate var prefetchMember: PrefetchMember {
        {
            beginInterest(priority: .background).map { load in (load, { load.core.leave(load) }) }
        }
    }

    /// Begins a load if the content is not fresh, or joins a running load. It keeps running like a load for which a
    /// task waits, until it is left.
    ///
    /// - Parameter priority: The priority of a new load, regardless of the priority of the resource's requests. `nil`
    ///   means the priority of these requests, to which a running load is raised too.
    /// - Returns: The load; `nil` if none is needed.
    func beginInterest(priority: RequestPriority?) -> Load? {
        let environment = prepare()
        let core = core
        let need = service.loadIfNeeded(
            core, ObjectIdentifier(Content.self), isAwaited: true, priority: priority, in: environment)
        if case .running(let load) = need, priority == nil { core.raise(load, to: nil) }
        return need.load
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

    private func beginReload(of known: ResourceCore) -> (load: Load, leave: @Sendable () -> Void)? {
        let environment = adoptEnvironment()
        let core = known.current
        guard !isClosed else { return nil }
        guard core.observerCount > 0 else {
            core.report(.unobserved)
            return nil
        }
        return loadIfNeeded(core, nil, in: environment).load.map { ($0, {}) }
    }
}
