/// A service that is resolved at each use and not kept alive, or `nil` if there is none.
///
/// ```swift
/// @MainActor final class CartBadge {
///     @WeaklyResolved var cart: (any CartService)?
///     var count: Int { cart?.count ?? 0 }
/// }
/// ```
///
/// Neither the service nor the locator is retained, so an object that a locator holds may use this without a reference
/// cycle. The default locator is ``ServiceLocator/current`` when the wrapper is created. Reading returns `nil` once the
/// locator is released, and if resolving fails; `$cart.resolve()` throws the error.
///
/// A wrapped property is a `var`, which a `Sendable` class can have only on an actor. Other classes store the reference
/// itself: `let cart: ServiceReference<any CartService>`, created by ``ServiceLocator/reference(to:named:)``.
///
/// Any thread. Cost: a weak load and a resolve at each read.
@propertyWrapper
public struct WeaklyResolved<Service: Sendable>: Sendable {
    /// The reference to the service, whose `resolve()` throws errors: `try $cart.resolve()`.
    public let projectedValue: ServiceReference<Service>

    /// Creates a wrapper that resolves at each use.
    public init(named name: String? = nil, from locator: ServiceLocator = .current) {
        projectedValue = ServiceReference(locator: locator.reference, name: name)
    }

    /// The service, or `nil` if it cannot be resolved.
    public var wrappedValue: Service? { (try? projectedValue.resolveOptional()) ?? nil }
}
