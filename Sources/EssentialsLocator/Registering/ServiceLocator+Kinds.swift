extension ServiceLocator {
    /// Registers one object for several types at once: for all of them, or with an error for none.
    ///
    /// ```swift
    /// let store = FileStore(path: path)
    /// try locator.register(store, as: (any ReadingStore).self, (any WritingStore).self)
    /// ```
    ///
    /// That the object has the types is found out here, not by the compiler, with one cast each. To do the same for a
    /// lazy service, register it for one type and let the other's factory resolve that one.
    ///
    /// Any thread. Cost: a short lock, and an allocation and a cast for each type.
    ///
    /// - Returns: What ``unregister(_:)`` takes all of it away by.
    /// - Throws: ``ServiceLocatorError/Reason/notConforming`` and what ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func register<Object: Sendable, First: Sendable, Second: Sendable, each More: Sendable>(
        _ object: Object, as first: First.Type, _ second: Second.Type, _ more: repeat (each More).Type,
        named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        let slot = try slot(of: object, as: first, named: name, site: site)
        var others: [Slot] = [try self.slot(of: object, as: second, named: name, site: site)]
        for type in repeat each more { others.append(try self.slot(of: object, as: type, named: name, site: site)) }
        return try add(slot, others)
    }

    private func slot<Object: Sendable, Service: Sendable>(
        of object: Object, as type: Service.Type, named name: String?, site: RegistrationSite
    ) throws(ServiceLocatorError) -> Slot {
        guard let service = object as? Service else {
            throw .notConforming(object, to: String(reflecting: type), in: self, at: site)
        }
        return ServiceSlot(service, name: name, site: site)
    }

    /// Registers a factory that builds a new service at each resolve. The locator retains the factory only.
    ///
    /// ```swift
    /// try locator.registerTransient((any Session).self) { locator in
    ///     try UserSession(clock: locator.resolve((any Clock).self))
    /// }
    /// ```
    ///
    /// The factory runs on the thread that resolves, without a lock, several times at once if several threads do. It
    /// receives the locator of the registration, or with `origin` ``TransientOrigin/requester`` the one that was asked.
    /// Needing its own service is ``ServiceLocatorError/Reason/cycle``.
    ///
    /// Threads may be about to run the factory whenever a registration is removed, so it is retained until the locator
    /// goes, also after the registration or the locator was done with.
    ///
    /// Any thread. Cost: a short lock, two allocations; each resolve costs what the factory does and some 30 ns.
    ///
    /// - Parameters:
    ///   - type: What it is found by, usually a protocol.
    ///   - name: Tells several registrations of one type apart.
    ///   - origin: Which locator the factory receives.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - factory: Builds the service.
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult @inlinable
    public func registerTransient<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, from origin: TransientOrigin = .owner,
        fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        try addTransient(TransientFactory(factory), named: name, from: origin, fileID: fileID, line: line)
    }

    /// Apart from `registerTransient`, whose closure is compiled in the caller's module, where the type is known.
    @usableFromInline
    func addTransient<Service>(
        _ factory: TransientFactory<Service>, named name: String?, from origin: TransientOrigin, fileID: StaticString,
        line: UInt
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(TransientSlot(factory, name: name, site: site, origin: origin))
    }

    /// Registers a factory that builds a new service at each resolve from arguments of any number.
    ///
    /// ```swift
    /// try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
    ///     try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    /// }
    /// let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    /// ```
    ///
    /// As ``registerTransient(_:named:from:fileID:line:factory:)-(_,_,_,_,_,(ServiceLocator)->Service)``, but that such a
    /// service may need others of its kind, 256 deep; a tree can be built this way.
    ///
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerTransient<Service: Sendable, First, each More>(
        _ type: Service.Type, named name: String? = nil, from origin: TransientOrigin = .owner,
        fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator, First, repeat each More) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(
            ArgumentSlot(type, name: name, site: site, origin: origin, factory: factory))
    }

    /// Registers an asynchronous factory, which builds the service when it is first resolved.
    ///
    /// ```swift
    /// try locator.registerAsync((any Database).self) { locator in
    ///     try await SQLDatabase.open(path: locator.resolve((any Settings).self).databasePath)
    /// }
    /// let database = try await locator.resolveAsync((any Database).self)
    /// ```
    ///
    /// One task runs the factory, however many wait for it. It receives the locator of the registration. When it throws,
    /// those who waited get the error, and the next resolve runs it again. Such a service is found by
    /// ``resolveAsync(_:named:)`` only; `resolve` is an error, before and after it was built, so that whether a program
    /// works does not depend on what was resolved earlier.
    ///
    /// Any thread. Cost: a short lock, three allocations.
    ///
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerAsync<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) async throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(AsyncSlot(type, name: name, site: site, factory: factory))
    }
}
