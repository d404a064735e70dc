public import Dispatch
import EssentialsHTTP
import EssentialsTools

/// An observation by a closure. It ends at once with ``cancel()`` or with its last reference.
///
/// ```swift
/// let observation = cart.observe { change in log(change.event) }
/// observation.cancel()
/// ```
///
/// It keeps its resource alive.
public final class ResourceObservation: Sendable {
    private let end: @Sendable () -> Void
    private let isActive = Atomic(true)
    #if DEBUG
        private let mark = LiveMark(.observation)
    #endif

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { cancel() }

    /// Ends the observation. On the queue or the actor of the closure, no call follows. Elsewhere, a call that has
    /// begun may still be running.
    public func cancel() {
        if isActive.exchange(false, ordering: .acquiringAndReleasing) { end() }
    }

    /// Ends the observation when the collection is released.
    public func store(in observations: ResourceObservations) { observations.add(self) }
}

/// Observations that end together, with the last reference to the collection.
///
/// ```swift
/// final class Screen {
///     private let observations = ResourceObservations()
///     init(_ cart: Resource<Cart>) { cart.observe { change in show(change.event) }.store(in: observations) }
/// }
/// ```
public final class ResourceObservations: Sendable {
    private let observations = Mutex<[ResourceObservation]>([])

    /// Creates an empty collection.
    public init() {}

    /// The number of observations.
    public var count: Int { observations.withLock { $0.count } }

    /// Ends all observations.
    public func cancelAll() {
        let all = observations.withLock { observations in
            defer { observations = [] }
            return observations
        }
        for observation in all { observation.cancel() }
    }

    func add(_ observation: ResourceObservation) { observations.withLock { $0.append(observation) } }
}

extension Resource {
    /// Calls a closure for each change, on the thread that makes the change.
    ///
    /// The closure must return quickly, because it delays the change and all other observers. It is called in the order
    /// of the changes, never by two threads at once and without a lock, so it may use the resource. A change that it
    /// makes is delivered after the current one has reached all observers.
    ///
    /// - Parameters:
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means that only its
    ///     configuration decides.
    ///   - reportingProgress: Whether the observer also receives ``ResourceEvent/progress(_:)``.
    ///   - body: Receives the changes, beginning with `attached`.
    /// - Returns: The observation, which ends with its last reference.
    @inlinable
    public func observeSynchronously(
        refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false,
        _ body: @escaping @Sendable (ResourceChange<Content>) -> Void
    ) -> ResourceObservation {
        // This closure is compiled for the content type at the call site, which makes it several times as fast.
        observeChanges(refresh, reportingProgress) { change in
            guard let object = change.object(of: ObjectIdentifier(Content.self)) else { return }
            let state = ResourceState<Content>(snapshot: .typed(object), time: service.time)
            body(ResourceChange(event: change.event, state: state, missed: change.missed))
        }
    }

    @usableFromInline
    func observeChanges(
        _ refresh: ResourceRefresh?, _ reportsProgress: Bool, _ body: @escaping @Sendable (PendingChange) -> Void
    ) -> ResourceObservation {
        observe(ClosureReceiver(reportsProgress: reportsProgress, body: body), refresh)
    }

    /// Calls a closure for each change on a queue.
    ///
    /// - Parameters:
    ///   - queue: The queue. Even on a concurrent queue the calls come one after another.
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means that only its
    ///     configuration decides.
    ///   - reportingProgress: Whether the observer also receives ``ResourceEvent/progress(_:)``.
    ///   - body: Receives the changes, beginning with `attached`. At most 1,024 changes wait for it. Beyond that only
    ///     the newest one is kept, which counts the missed ones.
    /// - Returns: The observation, which ends with its last reference.
    public func observe(
        on queue: DispatchQueue, refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false,
        _ body: @escaping @Sendable (ResourceChange<Content>) -> Void
    ) -> ResourceObservation {
        let mailbox = ObserverQueue()
        let receiver = ClosureReceiver(reportsProgress: reportingProgress) { change in
            guard mailbox.post(change) else { return }
            queue.async {
                while let change = mailbox.next() {
                    if let change = self.change(change) { body(change) }
                }
            }
        }
        return observe(receiver, refresh, mailbox)
    }

    /// Calls a closure for each change: on its actor if it is isolated, otherwise in a task. The next call begins when
    /// the previous one has returned.
    ///
    /// ```swift
    /// let observation = user.observe { @MainActor change in
    ///     title.show(change.state.content?.name)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - refresh: How often the resource is loaded again while it is observed; `nil` means that only its
    ///     configuration decides.
    ///   - reportingProgress: Whether the observer also receives ``ResourceEvent/progress(_:)``.
    ///   - body: Receives the changes, beginning with `attached`. At most 1,024 changes wait for it. Beyond that only
    ///     the newest one is kept, which counts the missed ones.
    /// - Returns: The observation, which ends with its last reference.
    public func observe(
        refreshing refresh: ResourceRefresh? = nil, reportingProgress: Bool = false,
        _ body: @escaping @isolated(any) @Sendable (ResourceChange<Content>) async -> Void
    ) -> ResourceObservation {
        let mailbox = ObserverQueue()
        let receiver = ClosureReceiver(reportsProgress: reportingProgress) { change in
            guard mailbox.post(change) else { return }
            Task { await deliver(from: mailbox, on: body.isolation, to: body) }
        }
        return observe(receiver, refresh, mailbox)
    }

    /// Takes changes from the mailbox on the actor on which they are delivered. No change is therefore delivered there
    /// after the end of the observation.
    private func deliver(
        from mailbox: ObserverQueue, on actor: isolated (any Actor)?,
        to body: @isolated(any) @Sendable (ResourceChange<Content>) async -> Void
    ) async {
        while let change = mailbox.next() {
            if let change = self.change(change) { await body(change) }
        }
    }

    private func observe(
        _ receiver: any ChangeReceiver, _ refresh: ResourceRefresh?, _ mailbox: ObserverQueue? = nil
    ) -> ResourceObservation {
        // The view exists before the first change, so that each change has a snapshot for it.
        _ = state
        let number = core.add(receiver, refreshing: refresh, service)
        service.readCachesForObserver(of: core)
        return ResourceObservation { [handle] in
            mailbox?.close()
            handle.remove(observer: number)
        }
    }
}

/// Passes the changes of a resource to a closure, on the thread that makes the change.
final class ClosureReceiver: ChangeReceiver {
    let reportsProgress: Bool
    private let body: @Sendable (PendingChange) -> Void
    private let end: @Sendable () -> Void

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - reportsProgress: Whether it requests the progress of loads.
    ///   - body: It is called for each change.
    ///   - end: It is called when no more changes will come. It may be called twice.
    init(
        reportsProgress: Bool = false, body: @escaping @Sendable (PendingChange) -> Void,
        end: @escaping @Sendable () -> Void = {}
    ) {
        (self.reportsProgress, self.body, self.end) = (reportsProgress, body, end)
    }

    func receive(_ change: PendingChange) { body(change) }
    func finish() { end() }
}
