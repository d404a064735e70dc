/// A service that its holder uses and does not keep alive: resolved at each use, nil when there is none.
///
/// ```swift
/// @MainActor final class CartBadge {
///     @WeaklyResolved var cart: (any CartService)?
///     var count: Int { cart?.count ?? 0 }
/// }
/// ```
///
/// Neither the service nor the locator is retained, so an object that a locator holds may use this without a cycle. The
/// locator is ``ServiceLocator/current`` at the moment when the wrapper is made, or the one that is given; nil is what
/// reading gives once it is gone. What goes wrong with a registration that is there reads as nil too; `$cart.resolve()`
/// throws it.
///
/// A wrapped property is a `var`, which a `Sendable` class may have only on an actor; others hold the reference itself:
/// `let cart: ServiceReference<any CartService>`, made by ``ServiceLocator/reference(to:named:)``.
///
/// Any thread. Cost: reading loads a weak reference and resolves.
@propertyWrapper
public struct WeaklyResolved<Service: Sendable>: Sendable {
    /// The way to the service, for its error: `try $cart.resolve()`.
    public let projectedValue: ServiceReference<Service>

    /// Makes a wrapper.
    public init(named name: String? = nil, from locator: ServiceLocator = .current) {
        projectedValue = ServiceReference(locator: locator.reference, name: name)
    }

    /// The service, nil if there is none.
    public var wrappedValue: Service? { (try? projectedValue.resolveOptional()) ?? nil }
}
