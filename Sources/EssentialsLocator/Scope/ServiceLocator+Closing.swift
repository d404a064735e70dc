import Synchronization

extension ServiceLocator {
    /// Whether ``close()`` was called. Every other use of a closed locator is ``ServiceLocatorError/Reason/closed``.
    public var isClosed: Bool { table.isClosed }

    /// Ends the use of this locator and tells the services that it holds.
    ///
    /// From the moment of the call nothing can be registered or resolved here, nor through a child that comes to this
    /// locator on its way up. Lazy and asynchronous factories that have not run are released. Those that run come to
    /// their end, and who waits for them gets what they build. Then every service that is ``Closeable`` is told, one
    /// after the other, in reverse order of construction (for strong registrations that of registering), so that a
    /// service can still use those that it was built from. One object that is registered for several types is told once.
    ///
    /// Not told are weak services and targets of proxies, which are somebody else's; transient ones, which the locator
    /// does not know; and those that were replaced or unregistered before.
    ///
    /// Services are released when the last reference to the locator goes, not here: threads that resolve without a lock
    /// may still be looking. Parents and children are not closed.
    ///
    /// ```swift
    /// let session = ServiceLocator(name: "session", parent: app)
    /// // …
    /// await session.close()
    /// ```
    ///
    /// Idempotent: all calls return when the first has finished. Not cancellable. An asynchronous factory that closes its
    /// own locator, or one whose closing waits for it, does not wait for itself: its service is told when it is built. A
    /// service that closes its own locator from its `close()` does wait for itself, for ever.
    public func close() async {
        guard let slots = table.close(), let node = closingNode() else { return await awaitClosed() }
        let asking = AsyncAttempt.running?.node
        // A factory that closes is waited for by nobody that it waits for itself. Refused by nothing, since the closing
        // waits for nothing yet.
        let isLinked = asking.map { asking in AsyncLinks.shared.withLock { $0.link(asking, to: node) == nil } } ?? false
        for slot in slots { slot.close() }
        for slot in slots { await slot.ended(for: node) }
        for slot in Self.slotsToTell(slots) { await tell(slot) }
        if let asking, isLinked { AsyncLinks.shared.withLock { $0.unlink(asking, from: node) } }
        let waiting = closing.withLock { closing in
            defer { closing = .closed }
            if case .running(_, let waiting) = closing { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Runs a body with a child of this locator, which is closed when the body ends, also when it throws.
    ///
    /// ```swift
    /// let receipt = try await app.withScope("checkout") { scope in
    ///     try scope.register(Cart(items), as: (any CartService).self)
    ///     return try await scope.resolve((any Checkout).self).run()
    /// }
    /// ```
    ///
    /// - Throws: What the body throws.
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

    /// Tells the service of a slot of the end, if it wants to be told and nobody has told it before: the closing, or the
    /// task of a factory that the closing did not wait for.
    func tell(_ slot: Slot) async {
        guard let listener = Listener(slot) else { return }
        guard told.withLock({ $0.insert(listener.identity).inserted }) else { return }
        await listener.service.close()
    }

    /// The registrations whose services want to be told, youngest first, those of one object once.
    private static func slotsToTell(_ slots: [Slot]) -> [Slot] {
        var seen: Set<ObjectIdentifier> = []
        let oldestFirst = slots.filter(\.isStored).sorted {
            $0.builtAt.load(ordering: .relaxed) < $1.builtAt.load(ordering: .relaxed)
        }
        // An object is told where it came first, which is behind those that were built from it.
        return oldestFirst.filter { Listener($0).map { seen.insert($0.identity).inserted } ?? false }.reversed()
    }

    /// Waits for the end of a closing that somebody else began.
    private func awaitClosed() async {
        guard let node = closingNode() else { return }
        let asking = AsyncAttempt.running?.node
        if let asking, AsyncLinks.shared.withLock({ $0.link(asking, to: node) }) != nil { return }
        await withCheckedContinuation { continuation in
            let isOver = closing.withLock { closing in
                guard case .running(let node, let waiting) = closing else { return true }
                closing = .running(node, waiting + [continuation])
                return false
            }
            if isOver { continuation.resume() }
        }
        if let asking { AsyncLinks.shared.withLock { $0.unlink(asking, from: node) } }
    }

    /// What stands for the closing among those who wait; nil when it is over.
    private func closingNode() -> WaitNode? {
        closing.withLock { closing in
            switch closing {
            case .closed: return nil
            case .running(let node, _): return node
            case .open:
                let node = WaitNode("the closing of \"\(name)\"")
                closing = .running(node, [])
                return node
            }
        }
    }

    /// What the services are called that want to be told of the end.
    var closeableLabels: [String] {
        table.liveSlots().filter { $0.closeable != nil }.map { "\($0.label) (\($0.site))" }
    }
}

/// A stored service that wants to be told of the end.
private struct Listener {
    let service: any Closeable
    /// The object, or for a value its registration. Both live as long as the locator, so no other has the same.
    let identity: ObjectIdentifier

    init?(_ slot: Slot) {
        guard let service = slot.closeable else { return nil }
        self.service = service
        identity = ObjectIdentifier(type(of: service) is AnyClass ? service as AnyObject : slot)
    }
}
