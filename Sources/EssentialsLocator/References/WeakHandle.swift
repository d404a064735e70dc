/// A reference to an object that does not keep it alive.
///
/// For code that uses a service without owning it, and for proxies (``ServiceProxy``). The service's type may be a
/// protocol. The handle refers to the object.
///
/// ```swift
/// let handle = WeakHandle<any CartService>(cart) { $0 }
/// try handle.live().add(item)        // throws `serviceGone` once the cart is released
/// ```
///
/// Any thread. A copy costs two retains. Each use costs a weak load, about three times as much as an ordinary retain.
/// The first weak reference to an object also makes every later retain of it that slow, everywhere in the program.
public struct WeakHandle<Service>: Sendable {
    private enum Source: Sendable {
        case object(@Sendable () -> Service?)
        /// A reference that follows registrations and throws its own errors.
        case reference(@Sendable () throws(ServiceLocatorError) -> Service)
    }

    private let source: Source
    /// The object's identity when the handle was created. Another object may have it after this one is released.
    let identity: ObjectIdentifier?
    private let site: RegistrationSite

    /// Creates a handle for an object.
    ///
    /// - Parameters:
    ///   - object: The object, which is not retained.
    ///   - fileID: Shown in errors, with `line`, unless the proxy of a registration creates the handle.
    ///   - line: Shown in errors.
    ///   - conversion: Usually `{ $0 }`, which converts the object's class to the service's type.
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

    /// Creates a handle that resolves at each use. It follows registrations and keeps neither the service nor the
    /// locator alive.
    ///
    /// Do not register a proxy with such a handle where the reference finds it, because it would forward to itself
    /// forever. Give one of the two a name, or register the proxy in a child and refer to the parent.
    public init(_ reference: ServiceReference<Service>, fileID: StaticString = #fileID, line: UInt = #line)
    where Service: Sendable {
        source = .reference { () throws(ServiceLocatorError) in try reference.resolve() }
        identity = nil
        site = RegistrationSite.registering ?? RegistrationSite(fileID: fileID, line: line)
    }

    /// The service as a strong reference, or `nil` if it was released or cannot be resolved.
    public var service: Service? {
        switch source {
        case .object(let load): load()
        case .reference(let resolve): try? resolve()
        }
    }

    /// Whether the service exists at this moment. It may be released at any time: read ``service`` to use it.
    public var isAlive: Bool { service != nil }

    /// The service.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/serviceGone``. A handle that follows registrations throws what
    ///   ``ServiceReference/resolve()`` throws, for example ``ServiceLocatorError/Reason/locatorGone``.
    public func live() throws(ServiceLocatorError) -> Service {
        switch source {
        case .object(let load):
            if let service = load() { return service }
            throw .serviceGone(String(reflecting: Service.self), site: site)
        case .reference(let resolve): return try resolve()
        }
    }

    /// The service. Ends the process once it is released, with a text that names the type, the member and the line that
    /// created the handle.
    public func require(_ member: StaticString = #function) -> Service {
        do throws(ServiceLocatorError) {
            return try live()
        } catch {
            error.endProcess("Used by \(member)")
        }
    }
}
