import Synchronization

extension ServiceLocator {
    /// The service registered for a type, here or in the nearest parent that has one.
    ///
    /// An unbuilt lazy registration is built first, on the calling thread or by waiting for the thread that does. A weak
    /// registration whose object is gone counts as none, so the same call goes on to the parent.
    /// A registration that is being moved from one locator to another may be found in neither; `replace` has no gap.
    ///
    /// ```swift
    /// let requests = try locator.resolve((any DataRequestService).self)
    /// let audit = try locator.resolve((any LogService).self, named: "audit")
    /// ```
    ///
    /// Cost: a few loads per locator on the way up, and one retain of the service; no lock, no cast, no allocation.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/missing``; ``ServiceLocatorError/Reason/closed`` when this locator, or the
    ///   one that has the registration, was closed; for lazy and transient registrations also
    ///   ``ServiceLocatorError/Reason/constructionFailed`` and ``ServiceLocatorError/Reason/cycle``;
    ///   ``ServiceLocatorError/Reason/asynchronous`` for an asynchronous one and
    ///   ``ServiceLocatorError/Reason/argumentMismatch`` for one that takes arguments.
    public func resolve<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        // A table lives as long as its locator, and this locator until the service was copied.
        defer { withExtendedLifetime(self) {} }
        if let storage = readyStorage(key) {
            return storage.assumingMemoryBound(to: type).pointee
        }
        return try resolveElse(key)
    }

    /// The service registered for a type, or nil if there is no registration here or in a parent.
    ///
    /// ```swift
    /// let metrics = try locator.resolveOptional((any MetricsService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``; nil costs no more than a service.
    ///
    /// - Throws: What went wrong with a registration that is there, also when its factory missed a service, and
    ///   ``ServiceLocatorError/Reason/closed``.
    public func resolveOptional<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        let key = ServiceKey(type, name: name)
        // As in `resolve`.
        defer { withExtendedLifetime(self) {} }
        if let storage = readyStorage(key) {
            return storage.assumingMemoryBound(to: type).pointee
        }
        return try find(key)
    }

    /// The service registered for a type; ends the process where ``resolve(_:named:)`` throws, with the same text.
    ///
    /// For services without which the program is wrong, in code that cannot throw.
    ///
    /// ```swift
    /// let requests = locator.require((any DataRequestService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``. The text is printed in every build configuration.
    public func require<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Service {
        do throws(ServiceLocatorError) {
            return try resolve(type, named: name)
        } catch {
            error.endProcess("Required at \(RegistrationSite(fileID: fileID, line: line))")
        }
    }

    /// A new service from a transient registration's factory, which receives the arguments.
    ///
    /// ```swift
    /// try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
    ///     try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    /// }
    /// let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    /// ```
    ///
    /// The arguments' types are compared with the factory's when this is called; write literals with their type where
    /// the factory does not take `Int`, `Double` or `String`.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws; ``ServiceLocatorError/Reason/argumentMismatch`` when the factory
    ///   takes others, or the registration none.
    public func resolve<Service: Sendable, First, each More>(
        _ type: Service.Type, named name: String? = nil, arguments first: First, _ more: repeat each More
    ) throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        let arguments = (first, repeat each more)
        let names = argumentNames(First.self, repeat (each More).self)
        let found = try search(key) {
            (slot: ServiceSlot<Service>, owner: ServiceLocator) throws(ServiceLocatorError) -> Provision<Service> in
            try slot.provide(owner: owner, requester: self, arguments: arguments, names: names)
        }
        guard let found else { throw missing(type, key: key) }
        return found
    }

    // MARK: Without a lock

    /// The storage of the service in the nearest locator that has the key; nil if none has, or it is not simply there.
    ///
    /// Untyped, because most of the time of a generic search would go into looking up metadata. The caller binds it to
    /// the type that it made the key from. That needs no check: only the registering methods make slots, and they make
    /// a `ServiceSlot<Service>` under a key of `Service`. A checked cast would cost more than the whole search.
    ///
    /// What is returned lives as long as its slot, the slot as long as its table, and the table as long as this locator.
    private func readyStorage(_ key: borrowing ServiceKey) -> UnsafeRawPointer? {
        guard let found = RegistrationTable.nearestSlot(for: key, from: table.root) else { return nil }
        // The table owns the slot and the caller keeps the locator, so a retain would be wasted.
        return found._withUnsafeGuaranteedRef { slot in
            guard slot.isReady, tracedFactories.load(ordering: .relaxed) == 0 else { return nil }
            return UnsafeRawPointer(slot.storage)
        }
    }

    // MARK: Asking the slot

    /// Apart from `resolve`, so that a resolve that finds its service at once does not prepare for an optional one.
    @inline(never)
    private func resolveElse<Service: Sendable>(_ key: ServiceKey) throws(ServiceLocatorError) -> Service {
        if let service: Service = try find(key) { return service }
        throw missing(Service.self, key: key)
    }

    /// Searches again, asking the slots that are found. Nil if no locator has the service.
    @inline(never)
    private func find<Service: Sendable>(_ key: ServiceKey) throws(ServiceLocatorError) -> Service? {
        try search(key) {
            (slot: ServiceSlot<Service>, owner: ServiceLocator) throws(ServiceLocatorError) -> Provision<Service> in
            try slot.provide(owner: owner, requester: self)
        }
    }

    @inline(__always)
    private func search<Service: Sendable>(
        _ key: ServiceKey,
        _ provide: (ServiceSlot<Service>, ServiceLocator) throws(ServiceLocatorError) -> Provision<Service>
    ) throws(ServiceLocatorError) -> Service? {
        var locator = self
        while true {
            if let slot: ServiceSlot<Service> = locator.slot(for: key) {
                locator.noteDependency(on: slot)
                switch try provide(slot, locator) {
                case .service(let service): return service
                case .missing: return nil
                // The table has changed: look again in the same locator.
                case .moved: continue
                case .absent: break
                }
            } else if locator.isClosed {
                throw .closed(locator)
            }
            guard let parent = locator.parent else { return nil }
            locator = parent
        }
    }

    /// This locator's own registration.
    func slot<Service: Sendable>(for key: ServiceKey) -> ServiceSlot<Service>? {
        // Right for the reason that `readyStorage` gives.
        table.slot(for: key).map { unsafeDowncast($0.takeUnretainedValue(), to: ServiceSlot<Service>.self) }
    }

    /// Notes what the factory that runs here resolves, for graphs.
    func noteDependency(on slot: Slot) {
        guard tracedFactories.load(ordering: .relaxed) > 0 else { return }
        let building = BuildFrame.current?.pointee.slot.takeUnretainedValue() ?? AsyncAttempt.current?.slot
        guard let building, building !== slot else { return }
        building.note(Dependency(id: slot.id, label: slot.label, locator: name))
    }
}
