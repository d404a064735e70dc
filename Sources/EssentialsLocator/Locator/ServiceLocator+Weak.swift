/// What a resolve does if it finds a weak registration whose object was released.
public enum WeakFallback: Sendable, Hashable {
    /// The search continues in the parent, in the same call, as if there were no registration.
    case parent
    /// The search ends: ``ServiceLocatorError/Reason/missing``, or `nil` from `resolveOptional`.
    case missing
}

extension ServiceLocator {
    /// Registers an object by its own class, without retaining it.
    ///
    /// See ``registerWeak(_:as:named:whenGone:fileID:line:conversion:)``.
    @discardableResult @inlinable
    public func registerWeak<Service: AnyObject & Sendable>(
        _ object: Service, named name: String? = nil, whenGone fallback: WeakFallback = .parent,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        try registerWeak(object, as: Service.self, named: name, whenGone: fallback, fileID: fileID, line: line) { $0 }
    }

    /// Registers an object for a type, without retaining it.
    ///
    /// Resolving returns a strong reference, which may keep the object alive. To prevent that, use
    /// ``registerWeakProxy(_:as:named:whenGone:fileID:line:proxy:)``. Once the object is released the registration
    /// counts as absent: a resolve continues in the parent, and the key is free. The error of a missing service
    /// mentions the registration. If the object was released before any resolve, like any temporary, the first resolve
    /// prints a warning with the line of the registration on standard error.
    ///
    /// ```swift
    /// let cart = Cart()                       // its owner retains it; a temporary would be released at once
    /// try locator.registerWeak(cart, as: (any CartService).self) { $0 }
    /// ```
    ///
    /// Any thread. Cost: a short lock and a few allocations. Each resolve costs a weak load.
    ///
    /// - Parameters:
    ///   - object: The object, which is not retained.
    ///   - type: The type it is found by, usually a protocol.
    ///   - name: Distinguishes several registrations of one type.
    ///   - fallback: What a resolve does once the object is released. The default is to search the parent.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - conversion: Always `{ $0 }`, with which the compiler checks that the object has the type.
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult @inlinable
    public func registerWeak<Object: AnyObject & Sendable, Service: Sendable>(
        _ object: Object, as type: Service.Type, named name: String? = nil,
        whenGone fallback: WeakFallback = .parent, fileID: StaticString = #fileID, line: UInt = #line,
        conversion: @escaping @Sendable (consuming Object) -> Service
    ) throws(ServiceLocatorError) -> Registration {
        // The slot passes only this object. It is consumed, because retaining a weakly referenced object is slow.
        try addWeak(object, as: type, named: name, whenGone: fallback, fileID: fileID, line: line) { object, memory in
            memory.initializeMemory(as: type, to: conversion(unsafeDowncast(object, to: Object.self)))
        }
    }

    /// The part of `registerWeak` that is not compiled in the caller's module.
    @usableFromInline
    func addWeak<Service: Sendable>(
        _ object: any AnyObject & Sendable, as type: Service.Type, named name: String?, whenGone fallback: WeakFallback,
        fileID: StaticString, line: UInt,
        _ convert: @escaping @Sendable (consuming any AnyObject & Sendable, UnsafeMutableRawPointer) -> Void
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add([WeakSlot(object, as: type, name: name, site: site, fallback: fallback, convert)])
    }

    /// Registers a proxy for an object. Neither the locator nor a caller that resolves the proxy retains the object.
    ///
    /// ```swift
    /// try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
    /// ```
    ///
    /// ``ServiceProxy`` explains how to write the proxy, which the locator retains. The proxy stands for this object,
    /// whatever is registered later; a proxy whose handle was created from a ``ServiceReference`` follows registrations
    /// instead. Once the object is released the registration counts as absent, and proxies in use behave as they are
    /// written.
    ///
    /// Any thread. Cost: a short lock and a few allocations. Each resolve costs a weak load.
    ///
    /// - Parameters:
    ///   - object: The object, which is not retained.
    ///   - type: The type the proxy is found by, usually a protocol.
    ///   - name: Distinguishes several registrations of one type.
    ///   - fallback: What a resolve does once the object is released. The default is to search the parent.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - proxy: Creates the proxy. Called once, before this method returns.
    /// - Returns: The registration, for ``unregister(_:)``.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerWeakProxy<Object: AnyObject & Sendable, Service: Sendable>(
        _ object: Object, as type: Service.Type, named name: String? = nil,
        whenGone fallback: WeakFallback = .parent, fileID: StaticString = #fileID, line: UInt = #line,
        proxy: (Object) -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        // A handle that the proxy creates reports this line.
        let made = RegistrationSite.$registering.withValue(site) { proxy(object) }
        let reference = WeakReference(object)
        let slot = WeakProxySlot(made, name: name, site: site, fallback: fallback) { reference.object != nil }
        return try add([slot])
    }

    // MARK: References

    /// A reference to this locator that does not keep it alive.
    public var reference: LocatorReference { LocatorReference(self) }

    /// A reference to a service that resolves at each use and keeps neither the service nor this locator alive.
    public func reference<Service: Sendable>(
        to type: Service.Type, named name: String? = nil
    ) -> ServiceReference<Service> {
        ServiceReference(locator: reference, name: name)
    }
}
