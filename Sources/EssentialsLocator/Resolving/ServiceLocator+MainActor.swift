extension ServiceLocator {
    /// Registers a service that only the main actor uses; it need not be `Sendable`. This locator retains it.
    ///
    /// Registrations for the main actor have keys of their own: the same type may be registered for all threads too. What
    /// is registered here is found by ``resolveOnMainActor(_:named:)`` and by nothing else, so that no code off the main
    /// actor ever touches it. It is released with the locator, on whatever thread that is.
    ///
    /// ```swift
    /// try locator.registerOnMainActor(StatusLine(), as: (any StatusDisplay).self)
    /// ```
    ///
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @MainActor @discardableResult
    public func registerOnMainActor<Service>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        try register(
            MainActorBox(value: service), as: MainActorBox<Service>.self, named: name, fileID: fileID, line: line)
    }

    /// Registers a factory that builds a service for the main actor, on the main actor, when it is first resolved.
    ///
    /// ```swift
    /// try locator.registerLazyOnMainActor((any StatusDisplay).self) { locator in
    ///     StatusLine(clock: try locator.resolve((any Clock).self))
    /// }
    /// ```
    ///
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``registerLazy(_:named:fileID:line:factory:)`` throws.
    @MainActor @discardableResult
    public func registerLazyOnMainActor<Service>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @MainActor (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(
            LazySlot(MainActorBox<Service>.self, name: name, site: site) { locator in
                // True by construction: the key is that of a box, which only the functions in this file ask for, and
                // they run on the main actor.
                try MainActor.assumeIsolated { MainActorBox(value: try factory(locator)) }
            })
    }

    /// The service registered for a type with ``registerOnMainActor(_:as:named:fileID:line:)`` or its lazy sister.
    ///
    /// ```swift
    /// let display = try locator.resolveOnMainActor((any StatusDisplay).self)
    /// ```
    ///
    /// - Throws: What ``resolve(_:named:)`` throws.
    @MainActor
    public func resolveOnMainActor<Service>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service {
        try resolve(MainActorBox<Service>.self, named: name).value
    }

    /// The same, or nil if there is no registration here or in a parent.
    ///
    /// - Throws: What ``resolveOptional(_:named:)`` throws.
    @MainActor
    public func resolveOptionalOnMainActor<Service>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        try resolveOptional(MainActorBox<Service>.self, named: name)?.value
    }

    /// Removes this locator's registration for the main actor.
    ///
    /// - Returns: Whether there was one.
    @MainActor @discardableResult
    public func unregisterOnMainActor<Service>(_ type: Service.Type, named name: String? = nil) -> Bool {
        unregister(MainActorBox<Service>.self, named: name)
    }
}
