import EssentialsTools

/// A service that has something to finish when the locator that holds it is closed.
///
/// ```swift
/// extension JobQueue: Closeable {
///     public func close() async { await finishRunningJobs() }
/// }
/// ```
public protocol Closeable: Sendable {
    /// Begins nothing new, and waits for what runs, for at most the grace period. It returns earlier if nothing runs any
    /// more, or if the calling task is cancelled. The default does nothing.
    ///
    /// ``ServiceLocator/close(grace:)`` calls it before ``close()``, for one service after the other, the youngest first. So
    /// those that were built from this one have finished.
    ///
    /// - Parameter grace: What is left of the grace period, which is positive.
    func finish(within grace: Duration) async

    /// Finishes the service's work: waits for running operations, closes connections and files.
    ///
    /// Each locator that holds the service calls this once, in the task that closes the locator. The service reports
    /// its own failures.
    func close() async
}

extension Closeable {
    /// Does nothing.
    public func finish(within grace: Duration) async {}
}

/// The progress of closing a locator.
enum Closing: Sendable {
    case open
    /// Other calls of `close()` wait for the end of the first one. Factories may wait for the node.
    case running(WaitNode, OneShot<Void>)
    case closed
}

extension ServiceLocator {
    /// Whether ``close()`` was called. Every other use of a closed locator throws
    /// ``ServiceLocatorError/Reason/closed``.
    public var isClosed: Bool { table.isClosed }

    /// Ends the use of this locator and notifies its services.
    ///
    /// From the moment of the call nothing can be registered or resolved here, nor through a child whose search comes
    /// to this locator. Lazy and asynchronous factories that have not run are released. Running factories finish, and
    /// resolves that wait for them get the services. Then ``Closeable/close()`` of every ``Closeable`` service is
    /// called, one after the other, in reverse order of construction (for strong registrations the order of
    /// registration), so that a service can still use the services that it was built from. An object that is registered
    /// for several types is notified once.
    ///
    /// Three kinds of services are not notified: weak services and targets of proxies, which have another owner;
    /// transient services, which the locator does not hold; and services that were replaced or unregistered before.
    ///
    /// Services are released when the last reference to the locator is released, not here, because threads that resolve
    /// without a lock may be reading them. Parents and children are not closed.
    ///
    /// ```swift
    /// let session = ServiceLocator(name: "session", parent: app)
    /// // …
    /// await session.close()
    /// ```
    ///
    /// ``close(grace:)`` first lets services finish what runs.
    ///
    /// All calls return when the first one has finished. Closing cannot be cancelled. An asynchronous factory that
    /// closes its own locator, or a locator whose closing waits for the factory, does not wait for itself: its service
    /// is notified once it is built. A service that closes its own locator in its `close()` waits for itself forever.
    public func close() async {
        announceEnd()
        guard let slots = table.close(), let node = runningClosing()?.node else { return await awaitClosed() }
        let caller = AsyncAttempt.running?.node
        // While the calling factory waits for the closing, nothing that it waits for may wait for it. The link cannot
        // be refused, because the closing waits for nothing yet.
        let isLinked = caller.map { caller in AsyncLinks.shared.withLock { $0.link(caller, to: node) == nil } } ?? false
        for slot in slots { slot.close() }
        for slot in slots { await slot.ended(for: node) }
        for slot in Self.slotsToNotify(slots) { await notify(slot) }
        if let caller, isLinked { AsyncLinks.shared.withLock { $0.unlink(caller, from: node) } }
        let end = closing.withLock { closing -> OneShot<Void>? in
            defer { closing = .closed }
            return if case .running(_, let end) = closing { end } else { nil }
        }
        end?.provide(())
    }

    /// Lets the services finish what runs, and closes the locator.
    ///
    /// From the moment of the call ``isEnding`` is true, and the ``Closeable`` services that exist are asked to finish, one
    /// after the other, the youngest first: a data-request service refuses new requests, and waits for those that run. When
    /// all have finished, or when the grace period is over, this is ``close()``. Until then services can be resolved as
    /// before.
    ///
    /// ```swift
    /// await app.close(grace: .seconds(20))  // after SIGTERM
    /// ```
    ///
    /// If the calling task is cancelled, the grace period ends, or does not begin. A second call, or ``close()``, does not
    /// wait for the grace period of the first one; it ends it for both. Parents and children are not closed.
    ///
    /// - Parameter grace: The maximum time for finishing. Closing may take longer. Zero and less mean none.
    public func close(grace: Duration) async {
        announceEnd()
        let isFirst = finishing.exchange(true, ordering: .acquiringAndReleasing) == false
        if isFirst, grace > .zero, !Task.isCancelled {
            await finish(Self.slotsToNotify(table.liveSlots()), within: grace)
        }
        await close()
    }

    /// Makes ``isEnding`` true, because the program is about to close the locator. Nothing else changes.
    public func announceEnd() { ending.store(true, ordering: .releasing) }

    /// Whether ``announceEnd()``, ``close(grace:)`` or ``close()`` was called, so that the program should receive no more
    /// work. It becomes true before ``isClosed`` does.
    public var isEnding: Bool { ending.load(ordering: .acquiring) }

    /// Runs a closure with a child of this locator and closes the child when the closure returns or throws.
    ///
    /// ```swift
    /// let receipt = try await app.withScope("checkout") { scope in
    ///     try scope.register(Cart(items), as: (any CartService).self)
    ///     return try await scope.resolve((any Checkout).self).run()
    /// }
    /// ```
    ///
    /// - Throws: What the closure throws.
    @discardableResult
    public func withScope<Result, Failure: Error>(
        _ name: String, _ body: (ServiceLocator) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let scope = ServiceLocator(name: name, parent: self)
        do throws(Failure) {
            let result = try await body(scope)
            await scope.close()
            return result
        } catch {
            await scope.close()
            throw error
        }
    }

    /// Calls `close()` of a slot's service, if it is ``Closeable`` and was not notified before. Called while closing,
    /// or by the task of a factory that the closing did not wait for.
    func notify(_ slot: Slot) async {
        guard let listener = Listener(slot) else { return }
        guard notified.withLock({ $0.insert(listener.identity).inserted }) else { return }
        await listener.service.close()
    }

    private func finish(_ slots: [Slot], within grace: Duration) async {
        let services = slots.compactMap(\.closeable)
        guard !services.isEmpty else { return }
        let end = ContinuousClock.now + grace.sleepable
        // A service that does not return in time is left alone, and closed after that. Another call may close the locator
        // meanwhile, which is looked up now and then, because this is rare.
        await limited(by: { [self] in
            while !isClosed, end > .now, (try? await Task.sleep(for: min(end - .now, .milliseconds(50)))) != nil {}
        }) {
            for service in services {
                let left = end - .now
                guard left > .zero, !Task.isCancelled else { return }
                await service.finish(within: left)
            }
        }
    }

    /// The labels of the services that are ``Closeable``.
    var closeableLabels: [String] {
        table.liveSlots().filter { $0.closeable != nil }.map { "\($0.label) (\($0.site))" }
    }

    /// The slots of ``Closeable`` services, the youngest first. Each object occurs once.
    private static func slotsToNotify(_ slots: [Slot]) -> [Slot] {
        var seen: Set<ObjectIdentifier> = []
        // An object keeps its oldest position, so that it is notified after the services that were built from it.
        return builtSlots(slots).filter { Listener($0).map { seen.insert($0.identity).inserted } ?? false }.reversed()
    }

    /// The slots with a service, in the order of its construction.
    static func builtSlots(_ slots: [Slot]) -> [Slot] {
        slots.filter(\.isStored).sorted {
            $0.builtAt.load(ordering: .relaxed) < $1.builtAt.load(ordering: .relaxed)
        }
    }

    /// Waits until another call of `close()` has finished.
    private func awaitClosed() async {
        guard let (node, end) = runningClosing() else { return }
        let caller = AsyncAttempt.running?.node
        if let caller, AsyncLinks.shared.withLock({ $0.link(caller, to: node) }) != nil { return }
        await end.value()
        if let caller { AsyncLinks.shared.withLock { $0.unlink(caller, from: node) } }
    }

    /// The node that represents the closing while it runs, and its end; `nil` if it is over.
    private func runningClosing() -> (node: WaitNode, end: OneShot<Void>)? {
        closing.withLock { closing in
            switch closing {
            case .closed: return nil
            case .running(let node, let end): return (node, end)
            case .open:
                let node = WaitNode("the closing of \"\(name)\"")
                let end = OneShot<Void>()
                closing = .running(node, end)
                return (node, end)
            }
        }
    }
}

/// A stored service that is ``Closeable``.
private struct Listener {
    let service: any Closeable
    let identity: ObjectIdentifier

    init?(_ slot: Slot) {
        guard let service = slot.closeable else { return nil }
        (self.service, identity) = (service, slot.identity(of: service))
    }
}
