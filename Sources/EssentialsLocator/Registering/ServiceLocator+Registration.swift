extension ServiceLocator {
    /// Registers a service for a type in this locator, which retains it.
    ///
    /// A registration of the same type in a parent is covered, not touched.
    ///
    /// ```swift
    /// try locator.register(ConstantEnvironment("https://api.example.com/v1/"), as: (any EnvironmentService).self)
    /// try locator.register(FileLog(path: auditPath), as: (any LogService).self, named: "audit")
    /// ```
    ///
    /// Any thread. Cost: a short lock, one allocation, no effect on threads that resolve.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - type: What it is found by, usually a protocol: `(any EnvironmentService).self`.
    ///   - name: Tells several registrations of one type apart.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: ``ServiceLocatorError/Reason/duplicate``, ``ServiceLocatorError/Reason/tooManyRegistrations``,
    ///   ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func register<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(ServiceSlot(service, name: name, site: site))
    }

    /// Registers a factory that builds the service when it is first resolved; the locator retains the result.
    ///
    /// The factory runs once, on the thread of the first resolve, without a lock. It receives the locator in which it
    /// is registered, also when a child asked, so that no service of a narrower scope ends up in a wider one. When it
    /// throws, the error goes to those who asked, and the next resolve runs it again. After success it is released,
    /// with what it captured; capture no locator, use the parameter.
    ///
    /// A factory that asks for its own service, in a round of any length and over any threads, gets
    /// ``ServiceLocatorError/Reason/cycle``. A factory that blocks for another thread by other means than resolving
    /// is not seen by that check.
    ///
    /// ```swift
    /// try locator.registerLazy((any DataRequestService).self) { locator in
    ///     try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
    /// }
    /// ```
    ///
    /// Any thread. Cost: a short lock, two allocations; once built, resolving costs what a strong registration costs.
    ///
    /// - Parameters:
    ///   - type: What it is found by, usually a protocol.
    ///   - name: Tells several registrations of one type apart.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - factory: Builds the service.
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws. What the factory throws is thrown by resolving.
    @discardableResult
    public func registerLazy<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(LazySlot(type, name: name, site: site, factory: factory))
    }

    /// Registers a service unless this locator, parents left aside, has a registration for the type and name.
    ///
    /// Of several threads that do this at once, one succeeds.
    ///
    /// ```swift
    /// try locator.registerIfAbsent(SilentMetrics(), as: (any MetricsService).self)
    /// ```
    ///
    /// Any thread. Cost as ``register(_:as:named:fileID:line:)``.
    ///
    /// - Returns: What ``unregister(_:)`` takes it away by; nil if there was a registration.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func registerIfAbsent<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration? {
        let site = RegistrationSite(fileID: fileID, line: line)
        do throws(ServiceLocatorError) {
            return try add(ServiceSlot(service, name: name, site: site))
        } catch {
            if error.reason == .duplicate { return nil }
            throw error
        }
    }

    /// Registers a service in place of this locator's registration for the type and name, if it has one.
    ///
    /// Without a gap: every resolve finds the old registration or the new one. A factory of the old registration that
    /// is running comes to its end, and those who wait for it get what it builds; later resolves get the new service.
    /// A factory that has not run is released.
    ///
    /// ```swift
    /// let original = try locator.replace(recorder, as: (any LogService).self)
    /// ```
    ///
    /// Any thread. Cost as ``register(_:as:named:fileID:line:)``. The locator retains the old service as long as it
    /// lives itself, and the old registration counts against ``registrationLimit``: do not use this as a variable.
    ///
    /// - Returns: The old service; nil if there was none, or a registration that retains none.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func replace<Service: Sendable>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Service? {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try exchange(ServiceSlot(service, name: name, site: site), type)
    }

    /// Registers a factory in place of this locator's registration for the type and name, if it has one.
    ///
    /// ``registerLazy(_:named:fileID:line:factory:)`` and ``replace(_:as:named:fileID:line:)`` in one, without a gap.
    ///
    /// ```swift
    /// try locator.replaceLazy((any LogService).self) { _ in try FileLog(path: newPath) }
    /// ```
    ///
    /// - Returns: The old service; nil if there was none, or a registration that retains none.
    /// - Throws: ``ServiceLocatorError/Reason/tooManyRegistrations``, ``ServiceLocatorError/Reason/closed``.
    @discardableResult
    public func replaceLazy<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @Sendable (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Service? {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try exchange(LazySlot(type, name: name, site: site, factory: factory), type)
    }

    /// Removes this locator's registration for the type and name; a parent's becomes visible again.
    ///
    /// A lazy or asynchronous factory that has not run is released. One that is running comes to its end, and those who
    /// wait for it get what it builds. A built service is retained until the locator goes.
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

    /// Removes exactly the registration that a registering method returned; a parent's becomes visible again.
    ///
    /// Does nothing when it was replaced, unregistered or made in another locator, so it never takes away what somebody
    /// else has registered since.
    ///
    /// ```swift
    /// let registration = try locator.register(probe, as: (any Probe).self)
    /// defer { locator.unregister(registration) }
    /// ```
    ///
    /// What becomes of factories and services, threads and cost are as ``unregister(_:named:)`` says.
    ///
    /// - Returns: Whether the registration, or for several types any of them, was there.
    @discardableResult
    public func unregister(_ registration: Registration) -> Bool {
        var wasThere = false
        for entry in registration.entries {
            guard let removed = table.remove(entry.key, id: entry.id) else { continue }
            removed.withdraw()
            wasThere = true
        }
        return wasThere
    }
}
