extension ServiceLocator {
    // MARK: Strong and lazy services

    /// Registers a service for a type in this locator, which retains it.
    ///
    /// A registration of the same type in a parent is overridden, not changed.
    ///
    /// ```swift
    /// try locator.register(ConstantEnvironment("https://api.example.com/v1/"), as: (any EnvironmentService).self)
    /// try locator.register(FileLog(path: auditPath), as: (any LogService).self, named: "audit")
    /// ```
    ///
    /// Any thread. Cost: a short lock and a few allocations. Threads that resolve are not delayed.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - type: The type it is found by, usually a protocol: `(any EnvironmentService).self`.
    ///   - name: Distinguishes several registrations of one type.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: ``ServiceLocatorError/Reason/duplicate``, ``ServiceLocatorError/Reason/tooManyRegistrations``,
    ///   ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func register<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([ServiceSlot(service, name: name, site: site)])
    }

    /// Registers one object for several types: for all of them, or for none if that fails.
    ///
    /// ```swift
    /// let store = FileStore(path: path)
    /// try locator.register(store, as: (any ReadingStore).self, (any WritingStore).self)
    /// ```
    ///
    /// The object's types are checked at run time, with one cast each. To do the same for a lazy service, register it
    /// for one type and resolve that type in the factory of the other.
    ///
    /// Any thread. Cost: a short lock, and a few allocations and a cast for each type.
    ///
    /// - Returns: The registration, for ``unregister(_:)``, which removes all of it.
    /// - Throws: ``ServiceLocatorError/Reason/notConforming`` and what ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func register<Object: Sendable, First: Sendable, Second: Sendable, each More: Sendable>(
        _ object: Object, as first: First.Type, _ second: Second.Type, _ more: repeat (each More).Type,
        named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        var slots = [try slot(of: object, as: first, named: name, site: site)]
        slots.append(try slot(of: object, as: second, named: name, site: site))
        for type in repeat each more { slots.append(try slot(of: object, as: type, named: name, site: site)) }
        return try add(slots)
    }

    private func slot<Object: Sendable, Service: Sendable>(
        of object: Object, as type: Service.Type, named name: String?, site: RegistrationSite
    ) throws(ServiceLocatorError) -> Slot {
        guard let service = object as? Service else {
            throw .notConforming(object, to: String(reflecting: type), in: self, at: site)
        }
        return ServiceSlot(service, name: name, site: site)
    }

    /// Registers a service unless this locator already has a registration for the type and name.
    ///
    /// Parents are not searched. If several threads call this at once, one of them succeeds.
    ///
    /// ```swift
    /// try locator.registerIfAbsent(SilentMetrics(), as: (any MetricsService).self)
    /// ```
    ///
    /// Any thread. Cost: as ``register(_:as:named:fileID:line:)``.
    ///
    /// - Returns: The registration, for ``unregister(_:)``, or `nil` if there was one already.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func registerIfAbsent<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration? {
        do throws(ServiceLocatorError) {
            return try register(service, as: type, named: name, fileID: fileID, line: line)
        } catch {
            if error.reason == .duplicate { return nil }
            throw error
        }
    }

    /// Registers a factory that builds the service at its first resolve. The locator retains the result.
    ///
    /// The factory runs once, on the thread of the first resolve, without a lock. It receives the locator in which it
    /// is registered, even if a child resolves the service, so that no service of a narrower scope becomes part of a
    /// wider one. If the factory throws, every waiting resolve gets the error and the next resolve runs the factory
    /// again. After success the factory is released, including what it captured. Do not capture a locator: use the
    /// parameter.
    ///
    /// A factory that needs its own service, through any number of factories and threads, gets
    /// ``ServiceLocatorError/Reason/cycle``. A factory that blocks on another thread by other means than resolving is
    /// not covered by that check.
    ///
    /// ```swift
    /// try locator.registerLazy((any DataRequestService).self) { locator in
    ///     try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
    /// }
    /// ```
    ///
    /// Any thread. Cost: a short lock and a few allocations. A built service costs as much to resolve as a strong one.
    ///
    /// - Parameters:
    ///   - type: The type it is found by, usually a protocol.
    ///   - name: Distinguishes several registrations of one type.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - factory: Builds the service.
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws. Errors of the factory are thrown by resolving.
    @discardableResult
    public func registerLazy<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([LazySlot(type, name: name, site: site, factory: factory)])
    }

    // MARK: Transient and asynchronous services

    /// Registers a factory that builds a new service at each resolve. The locator retains the factory, not the
    /// services.
    ///
    /// ```swift
    /// try locator.registerTransient((any Session).self) { locator in
    ///     try UserSession(clock: locator.resolve((any Clock).self))
    /// }
    /// ```
    ///
    /// The factory runs on the thread that resolves, without a lock, and on several threads at once if several threads
    /// resolve. It receives the locator in which it is registered, or with ``TransientOrigin/requester`` the locator
    /// that resolves. A factory that needs its own service gets ``ServiceLocatorError/Reason/cycle``.
    ///
    /// The factory is retained until the locator is released, even after the registration was removed or the locator
    /// was closed, because a thread may be about to run it.
    ///
    /// Any thread. Cost: a short lock and a few allocations. A resolve costs what the factory costs and about 40 ns.
    ///
    /// - Parameters:
    ///   - type: The type it is found by, usually a protocol.
    ///   - name: Distinguishes several registrations of one type.
    ///   - origin: The locator that the factory receives. The default is the locator of the registration.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - factory: Builds the service.
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerTransient<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, from origin: TransientOrigin = .owner,
        fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([TransientSlot(type, name: name, site: site, origin: origin, factory: factory)])
    }

    /// Registers a factory that builds a new service at each resolve, from arguments that the resolve passes.
    ///
    /// ```swift
    /// try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
    ///     try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    /// }
    /// let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    /// ```
    ///
    /// Such a factory may resolve its own service with other arguments, for example to build a tree, until 256 factories
    /// run inside each other on the thread; deeper is ``ServiceLocatorError/Reason/cycle``. Everything else is as for the
    /// form without arguments.
    ///
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerTransient<Service: Sendable, First, each More>(
        _ type: Service.Type, named name: String? = nil, from origin: TransientOrigin = .owner,
        fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator, First, repeat each More) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([TransientSlot(type, name: name, site: site, origin: origin, factoryWithArguments: factory)])
    }

    /// Registers an asynchronous factory that builds the service at its first resolve. The locator retains the result.
    ///
    /// ```swift
    /// try locator.registerAsync((any Database).self) { locator in
    ///     try await SQLDatabase.open(path: locator.resolve((any Settings).self).databasePath)
    /// }
    /// let database = try await locator.resolveAsync((any Database).self)
    /// ```
    ///
    /// One task runs the factory for all waiting resolves. The factory receives the locator of the registration. If it
    /// throws, every waiting resolve gets the error and the next resolve runs the factory again. Only
    /// ``resolveAsync(_:named:)`` finds the service. `resolve` throws even after the service was built, so that a
    /// program's behaviour does not depend on what was resolved earlier.
    ///
    /// Any thread. Cost: a short lock and a few allocations.
    ///
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerAsync<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) async throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([AsyncSlot(type, name: name, site: site, factory: factory)])
    }

    // MARK: Changing registrations

    /// Registers a service in place of this locator's registration for the type and name, if there is one.
    ///
    /// Every resolve finds either the old registration or the new one. A factory of the old registration that is
    /// running finishes, and resolves that wait for it get its service. Later resolves get the new service. A factory
    /// that has not run is released.
    ///
    /// ```swift
    /// let original = try locator.replace(recorder, as: (any LogService).self)
    /// ```
    ///
    /// Any thread. Cost: as ``register(_:as:named:fileID:line:)``. The locator retains the old service for the rest of
    /// its life, and the old registration counts towards ``registrationLimit``. Do not use this as a variable.
    ///
    /// - Returns: The old service, or `nil` if there was no registration or it retained no service.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func replace<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Service? {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try exchange(ServiceSlot(service, name: name, site: site), type)
    }

    /// Registers a factory in place of this locator's registration for the type and name, if there is one.
    ///
    /// The factory is that of ``registerLazy(_:named:fileID:line:factory:)``. Everything else is as for
    /// ``replace(_:as:named:fileID:line:)``.
    ///
    /// ```swift
    /// try locator.replaceLazy((any LogService).self) { _ in try FileLog(path: newPath) }
    /// ```
    ///
    /// - Returns: The old service, or `nil` if there was no registration or it retained no service.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func replaceLazy<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Service? {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try exchange(LazySlot(type, name: name, site: site, factory: factory), type)
    }

    /// Removes this locator's registration for the type and name. A parent's registration becomes visible again.
    ///
    /// A lazy or asynchronous factory that has not run is released. A running factory finishes, and resolves that wait
    /// for it get its service. A built service is retained until the locator is released.
    ///
    /// ```swift
    /// locator.unregister((any LogService).self, named: "audit")
    /// ```
    ///
    /// Any thread. Cost: a short lock.
    ///
    /// - Returns: Whether there was a registration.
    @discardableResult
    public func unregister<Service: Sendable>(_ type: Service.Type, named name: String? = nil) -> Bool {
        guard let removed = table.remove(ServiceKey(type, name: name)) else { return false }
        removed.withdraw()
        return true
    }

    /// Removes the registration that a registering method returned. A parent's registration becomes visible again.
    ///
    /// Does nothing if it was replaced, unregistered or made in another locator, so it never removes a registration
    /// that other code has made since.
    ///
    /// ```swift
    /// let registration = try locator.register(probe, as: (any Probe).self)
    /// defer { locator.unregister(registration) }
    /// ```
    ///
    /// Factories, services, threads and cost are as for ``unregister(_:named:)``.
    ///
    /// - Returns: Whether the registration existed, for several types whether any of them did.
    @discardableResult
    public func unregister(_ registration: Registration) -> Bool {
        var existed = false
        for entry in registration.entries {
            guard let removed = table.remove(entry.key, id: entry.id) else { continue }
            removed.withdraw()
            existed = true
        }
        return existed
    }
}

// MARK: - Slots

extension ServiceLocator {
    /// Registers all slots, which are not empty, or none of them.
    func add(_ slots: [Slot]) throws(ServiceLocatorError) -> Registration {
        if let context = AssemblyContext.running(in: self) { return try context.add(slots) }
        try insert(slots)
        return Registration(slots)
    }

    /// The same without looking for a running assembly. A weak registration whose object was released is replaced.
    func insert(_ slots: [Slot]) throws(ServiceLocatorError) {
        for slot in slots { slot.belongs(to: self) }
        while true {
            switch table.insert(slots, policy: .refuse) {
            case .inserted: return
            case .refused(let refused, let existing):
                // Checked without the table's lock, because checking may release the last reference to the object.
                guard existing.isGone else { throw .duplicate(refused, existing: existing, in: self) }
                remove(existing)
            case .full: throw .tooManyRegistrations(slots[0], in: self)
            case .closed: throw .closed(self)
            }
        }
    }

    /// Replaces the registration with a slot's key and returns its service, if it retained one.
    private func exchange<Service: Sendable>(
        _ slot: Slot, _ type: Service.Type
    ) throws(ServiceLocatorError) -> Service? {
        let replaced: Slot?
        if let context = AssemblyContext.running(in: self) {
            replaced = try context.exchange(slot)
        } else {
            replaced = try swap(slot)
            replaced?.withdraw()
        }
        return (replaced as? ServiceSlot)?.service(of: type)
    }

    /// Replaces the registration with a slot's key. The caller withdraws the registration that is returned.
    func swap(_ slot: Slot) throws(ServiceLocatorError) -> Slot? {
        slot.belongs(to: self)
        switch table.insert([slot], policy: .replace) {
        case .inserted(let replaced): return replaced.first
        case .refused(let slot, let existing): throw .duplicate(slot, existing: existing, in: self)
        case .full: throw .tooManyRegistrations(slot, in: self)
        case .closed: throw .closed(self)
        }
    }

    /// Removes this slot, if it is still registered.
    func remove(_ slot: Slot) {
        table.remove(slot.key, id: slot.id)?.withdraw()
    }

    /// Registers a replaced slot, which was not withdrawn, again in place of the slot that replaced it.
    func putBack(_ old: Slot, for new: Slot) {
        if table.putBack(old, for: new) { new.withdraw() } else { old.withdraw() }
    }
}
