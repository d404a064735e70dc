/// A way to an object that does not keep it alive.
///
/// For those who hold a service without owning it, and for proxies (``ServiceProxy``). The service's type may be a
/// protocol; what is held is the object.
///
/// ```swift
/// let handle = WeakHandle<any CartService>(cart) { $0 }
/// try handle.live().add(item)        // throws `serviceGone` when the cart is no more
/// ```
///
/// Any thread. A copy costs two retains. Each use costs a weak load, about three times an ordinary retain; the first weak
/// reference to an object also makes every later retain of it as slow, everywhere, so do not hold hot services this way.
public struct WeakHandle<Service>: Sendable {
    private enum Source: Sendable {
        case object(@Sendable () -> Service?)
        /// Late-binding: says itself what is wrong.
        case reference(@Sendable () throws(ServiceLocatorError) -> Service)
    }

    private let source: Source
    /// The object's identity at the time this was made. Another object may have it after this one is gone.
    let identity: ObjectIdentifier?
    private let site: RegistrationSite

    /// Makes a handle of an object, and says how the object is the service.
    ///
    /// - Parameters:
    ///   - object: What is not retained.
    ///   - fileID: Shown in errors, with `line`, unless the handle is made by the proxy of a registration.
    ///   - line: Shown in errors.
    ///   - conversion: Usually `{ $0 }`: it turns the object's class into the service's type.
    public init<Object: AnyObject & Sendable>(
        _ object: Object, fileID: StaticString = #fileID, line: UInt = #line,
        as conversion: @escaping @Sendable (consuming Object) -> Service
    ) {
        identity = ObjectIdentifier(object)
        let reference = WeakReference(object)
        source = .object {
            guard let object = reference.object else { return nil }
            return conversion(consume object)
        }
        site = RegistrationSite.registering ?? RegistrationSite(fileID: fileID, line: line)
    }

    /// Makes a handle that resolves at each use: a late-binding one, which follows registrations and keeps neither the
    /// service nor the locator alive.
    ///
    /// A proxy of such a handle must not be registered where the reference finds it: it would forward to itself without
    /// end. Give one of the two a name, or register the proxy in a child and refer to the parent.
    public init(_ reference: ServiceReference<Service>, fileID: StaticString = #fileID, line: UInt = #line)
    where Service: Sendable {
        source = .reference { () throws(ServiceLocatorError) in try reference.resolve() }
        identity = nil
        site = RegistrationSite.registering ?? RegistrationSite(fileID: fileID, line: line)
    }

    /// The service, retained by whoever holds this value; nil if it is gone, or cannot be resolved.
    public var service: Service? {
        switch source {
        case .object(let load): load()
        case .reference(let resolve): try? resolve()
        }
    }

    /// Whether the service is there at this moment. It may be gone at the next: to use it, ask for ``service``.
    public var isAlive: Bool { service != nil }

    /// The service.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/serviceGone``; a late-binding handle throws what
    ///   ``ServiceReference/resolve()`` does, ``ServiceLocatorError/Reason/locatorGone`` for example.
    public func live() throws(ServiceLocatorError) -> Service {
        switch source {
        case .object(let load):
            if let service = load() { return service }
            throw .serviceGone(String(reflecting: Service.self), site: site)
        case .reference(let resolve): return try resolve()
        }
    }

    /// The service; ends the process when it is gone, naming the type, the member and where the handle was made.
    public func require(_ member: StaticString = #function) -> Service {
        do throws(ServiceLocatorError) {
            return try live()
        } catch {
            error.endProcess("Used by \(member)")
        }
    }
}
