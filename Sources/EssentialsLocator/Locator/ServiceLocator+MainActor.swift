extension ServiceLocator {
    /// Registers a service that only the main actor uses and that need not be `Sendable`. This locator retains it.
    ///
    /// Registrations for the main actor have their own keys: the same type may also be registered for all threads. Only
    /// ``resolveOnMainActor(_:named:)`` finds the service, so that no other code can use it off the main actor. The
    /// service is released with the locator, on any thread.
    ///
    /// ```swift
    /// try locator.registerOnMainActor(StatusLine(), as: (any StatusDisplay).self)
    /// ```
    ///
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @MainActor @discardableResult
    public func registerOnMainActor<Service>(
        _ service: Service, as type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        try register(
            MainActorBox(value: service), as: MainActorBox<Service>.self, named: name, fileID: fileID, line: line)
    }

    /// Registers a factory that builds a service for the main actor, on the main actor, at its first resolve.
    ///
    /// ```swift
    /// try locator.registerLazyOnMainActor((any StatusDisplay).self) { locator in
    ///     StatusLine(clock: try locator.resolve((any Clock).self))
    /// }
    /// ```
    ///
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``registerLazy(_:named:fileID:line:factory:)`` throws.
    @MainActor @discardableResult
    public func registerLazyOnMainActor<Service>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        factory: @escaping @MainActor (_ locator: ServiceLocator) throws -> Service
    ) throws(ServiceLocatorError) -> Registration {
        try registerLazy(MainActorBox<Service>.self, named: name, fileID: fileID, line: line) { locator in
            // The key is that of a box, which only the methods in this file resolve, and they run on the main actor.
            try MainActor.assumeIsolated { MainActorBox(value: try factory(locator)) }
        }
    }

    /// The service that is registered for a type and the main actor.
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

    /// The service that is registered for a type and the main actor, or `nil` if neither this locator nor a parent has
    /// a registration.
    ///
    /// - Throws: What ``resolveOptional(_:named:)`` throws.
    @MainActor
    public func resolveOptionalOnMainActor<Service>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        try resolveOptional(MainActorBox<Service>.self, named: name)?.value
    }

    /// Removes this locator's registration for a type and the main actor.
    ///
    /// - Returns: Whether there was a registration.
    @MainActor @discardableResult
    public func unregisterOnMainActor<Service>(_ type: Service.Type, named name: String? = nil) -> Bool {
        unregister(MainActorBox<Service>.self, named: name)
    }
}

/// A service for the main actor. Registrations for the main actor use the type of this box as their key.
///
/// `@unchecked Sendable`: the value is read and written only by methods that run on the main actor. It may be released
/// on any thread, as every object of a main-actor class may.
struct MainActorBox<Value>: @unchecked Sendable {
    let value: Value
}

/// The members of a box that do not depend on its value's type.
protocol MainActorBoxing {
    static var boxedTypeName: String { get }
    var boxed: Any { get }
}

extension MainActorBox: MainActorBoxing {
    static var boxedTypeName: String { String(reflecting: Value.self) }
    var boxed: Any { value }
}
