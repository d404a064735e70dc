/// A reference to a service that resolves at each use. It follows registrations and keeps nothing alive.
///
/// ```swift
/// let cart = locator.reference(to: (any CartService).self)
/// try cart.resolve().add(item)
/// ```
///
/// Any thread. Each use costs a weak load and a resolve.
public struct ServiceReference<Service>: Sendable {
    private let locator: LocatorReference
    private let name: String?

    init(locator: LocatorReference, name: String?) {
        self.locator = locator
        self.name = name
    }
}

extension ServiceReference where Service: Sendable {
    /// The service that is registered now.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/locatorGone``, and what ``ServiceLocator/resolve(_:named:)`` throws.
    public func resolve() throws(ServiceLocatorError) -> Service {
        try locator.live().resolve(Service.self, named: name)
    }

    /// The service that is registered now, or `nil` if there is none or the locator was released.
    ///
    /// - Throws: What ``ServiceLocator/resolveOptional(_:named:)`` throws.
    public func resolveOptional() throws(ServiceLocatorError) -> Service? {
        try locator.locator?.resolveOptional(Service.self, named: name)
    }
}
