extension ServiceLocator {
    /// Registers an object by its own class, without retaining it.
    ///
    /// See ``registerWeak(_:as:named:whenGone:fileID:line:conversion:)``.
    @discardableResult @inlinable
    public func registerWeak<Service: AnyObject & Sendable>(
        _ object: Service, named name: String? = nil, whenGone fallback: WeakFallback = .parent,
        fileID: StaticString = #fileID, line: UInt = #line
    ) throws(ServiceLocatorError) -> Registration {
        // Only this object is ever given to the conversion.
        let conversion = WeakConversion { unsafeDowncast($0, to: Service.self) }
        return try addWeak(object, conversion, named: name, whenGone: fallback, fileID: fileID, line: line)
    }

    /// Registers an object for a type, without retaining it.
    ///
    /// Those who resolve get a strong reference, and may keep the object alive with it; to keep even them from that, use
    /// ``registerWeakProxy(_:as:named:whenGone:fileID:line:proxy:)``. Once the object is gone the registration counts as
    /// none: the same resolve goes on to the parent, and the key is free. A missing service's error says that it was here.
    /// When it was gone before anybody resolved it, as a temporary is, the first resolve that finds it gone says so in a
    /// line on standard error, with the line of the registration.
    ///
    /// ```swift
    /// let cart = Cart()                       // held by its owner; a temporary would be gone at once
    /// try locator.registerWeak(cart, as: (any CartService).self) { $0 }
    /// ```
    ///
    /// Any thread. Cost: a short lock, three allocations; each resolve costs a weak load, the first one a short lock too.
    ///
    /// - Parameters:
    ///   - object: What is not retained.
    ///   - type: What it is found by, usually a protocol.
    ///   - name: Tells several registrations of one type apart.
    ///   - fallback: What a resolve does when the object is gone.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - conversion: Always `{ $0 }`: with it the compiler checks that the object is of the type.
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult @inlinable
    public func registerWeak<Object: AnyObject & Sendable, Service: Sendable>(
        _ object: Object, as type: Service.Type, named name: String? = nil,
        whenGone fallback: WeakFallback = .parent, fileID: StaticString = #fileID, line: UInt = #line,
        conversion: @escaping @Sendable (consuming Object) -> Service
    ) throws(ServiceLocatorError) -> Registration {
        // As above. Handed on and not copied: counting a weakly referenced object costs three times as much as others.
        let typed = WeakConversion<Service> { conversion(unsafeDowncast($0, to: Object.self)) }
        return try addWeak(object, typed, named: name, whenGone: fallback, fileID: fileID, line: line)
    }

    /// Apart from `registerWeak`, whose closures are compiled in the caller's module, where the types are known.
    @usableFromInline
    func addWeak<Service>(
        _ object: any AnyObject & Sendable, _ conversion: WeakConversion<Service>, named name: String?,
        whenGone fallback: WeakFallback, fileID: StaticString, line: UInt
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        return try add(WeakSlot(object, conversion, name: name, site: site, fallback: fallback))
    }

    /// Registers a proxy for an object that neither the locator nor anyone who resolves retains.
    ///
    /// ```swift
    /// try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
    /// ```
    ///
    /// How to write the proxy is told at ``ServiceProxy``; the locator retains it. It stands for this object, whatever is
    /// registered later; a proxy whose handle is made of a ``ServiceReference`` follows registrations instead. Once the
    /// object is gone the registration counts as none, and proxies that were handed out answer as they are written to.
    ///
    /// Any thread. Cost: a short lock, three allocations; each resolve costs a weak load.
    ///
    /// - Parameters:
    ///   - object: What is not retained.
    ///   - type: What the proxy is found by, usually a protocol.
    ///   - name: Tells several registrations of one type apart.
    ///   - fallback: What a resolve does when the object is gone.
    ///   - fileID: Shown in errors about this registration, with `line`.
    ///   - line: Shown in errors about this registration.
    ///   - proxy: Makes the proxy, at once.
    /// - Returns: What ``unregister(_:)`` takes it away by.
    /// - Throws: What ``register(_:as:named:fileID:line:)`` throws.
    @discardableResult
    public func registerWeakProxy<Object: AnyObject & Sendable, Service: Sendable>(
        _ object: Object, as type: Service.Type, named name: String? = nil,
        whenGone fallback: WeakFallback = .parent, fileID: StaticString = #fileID, line: UInt = #line,
        proxy: (Object) -> Service
    ) throws(ServiceLocatorError) -> Registration {
        let site = RegistrationSite(fileID: fileID, line: line)
        // A handle that the proxy makes takes this line for its own.
        let made = RegistrationSite.$registering.withValue(site) { proxy(object) }
        let reference = WeakReference(object)
        return try add(
            WeakProxySlot(made, name: name, site: site, fallback: fallback) { reference.object != nil })
    }
}
