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
    private let load: @Sendable () -> Service?
    /// The object's identity at the time this was made. Another object may have it after this one is gone.
    let identity: ObjectIdentifier?
    private let site: RegistrationSite

    /// Makes a handle of an object, and says how the object is the service.
    ///
    /// - Parameters:
    ///   - object: What is not retained.
    ///   - conversion: Usually `{ $0 }`: it turns the object's class into the service's type.
    public init<Object: AnyObject & Sendable>(
        _ object: Object, fileID: StaticString = #fileID, line: UInt = #line,
        as conversion: @escaping @Sendable (consuming Object) -> Service
    ) {
        load = { [weak object] in
            guard let object else { return nil }
            return conversion(object)
        }
        identity = ObjectIdentifier(object)
        site = RegistrationSite.registering ?? RegistrationSite(fileID: fileID, line: line)
    }

    /// Makes a handle that resolves at each use: a late-binding one, which follows registrations and keeps neither the
    /// service nor the locator alive.
    public init(_ reference: ServiceReference<Service>, fileID: StaticString = #fileID, line: UInt = #line)
    where Service: Sendable {
        load = { (try? reference.resolveOptional()) ?? nil }
        identity = nil
        site = RegistrationSite.registering ?? RegistrationSite(fileID: fileID, line: line)
    }

    /// The service, retained by whoever holds this value; nil if it is gone.
    public var service: Service? { load() }

    /// Whether the service is there at this moment. It may be gone at the next: to use it, ask for ``service``.
    public var isAlive: Bool { load() != nil }

    /// The service.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/serviceGone``.
    public func live() throws(ServiceLocatorError) -> Service {
        if let service = load() { return service }
        throw .serviceGone(String(reflecting: Service.self), site: site)
    }

    /// The service; ends the process when it is gone, naming the type, the member and where the handle was made.
    public func require(_ member: StaticString = #function) -> Service {
        if let service = load() { return service }
        ServiceLocatorError.serviceGone(String(reflecting: Service.self), site: site).endProcess("Used by \(member)")
    }
}
