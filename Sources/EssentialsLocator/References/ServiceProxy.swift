/// A class that stands for a service without keeping it alive: it forwards calls, and decides what happens once the
/// object is released.
///
/// ``ServiceLocator/registerWeakProxy(_:as:named:whenGone:fileID:line:proxy:)`` registers such a class, which you write
/// for each protocol:
///
/// ```swift
/// final class CartServiceProxy: CartService, ServiceProxy {
///     let target: WeakHandle<any CartService>
///     init(_ cart: some CartService) { target = WeakHandle(cart) { $0 } }
///
///     func add(_ item: String) throws { try liveTarget().add(item) }    // throws `serviceGone`
///     var coupon: String? { target.service?.coupon }                    // nil
///     func clear() { perform { $0.clear() } }                           // depends on `goneTarget`
///     var count: Int { requiredTarget().count }                         // ends the process, with a text
/// }
/// try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
/// ```
///
/// `CartService` refines `AnyObject` and `Sendable` here. Of a protocol that also structures can conform to, write
/// `init(_ cart: some CartService & AnyObject)`.
///
/// **Identity.** A proxy is a separate object: `proxy === cart` is false. A proxy that declares `Hashable` gets `==`
/// and `hash(into:)` by the identity of its target, so two proxies of one object are equal while the object lives.
/// ``stands(for:)`` tells whether a proxy stands for an object.
///
/// **Cost.** Each forwarded call loads a weak reference. **Threads** are those of the target.
public protocol ServiceProxy: AnyObject, Sendable {
    /// The type of the target, usually a protocol.
    associatedtype Target

    /// The weak reference to the target.
    var target: WeakHandle<Target> { get }

    /// What ``perform(_:_:)`` does once the target is released. The default is ``GoneTargetPolicy/trap``.
    var goneTarget: GoneTargetPolicy { get }
}

/// What ``ServiceProxy/perform(_:_:)`` does once the target is released.
public enum GoneTargetPolicy: Sendable, Hashable {
    /// Ends the process with a text that names the protocol, the member and the line of the registration.
    case trap
    /// Does nothing.
    case ignore
}

extension ServiceProxy {
    /// The default, ``GoneTargetPolicy/trap``.
    public var goneTarget: GoneTargetPolicy { .trap }

    /// Whether the target exists at this moment.
    public var isAlive: Bool { target.isAlive }

    /// Whether this stands for `object`. `false` once the object is released.
    public func stands(for object: AnyObject) -> Bool {
        isAlive && target.identity == ObjectIdentifier(object)
    }

    /// The target, for members that throw.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/serviceGone``.
    public func liveTarget() throws(ServiceLocatorError) -> Target { try target.live() }

    /// The target, for members that return a result and cannot throw. Ends the process once the target is released.
    public func requiredTarget(_ member: StaticString = #function) -> Target { target.require(member) }

    /// Forwards a call without a result. ``goneTarget`` decides what happens once the target is released.
    public func perform(_ member: StaticString = #function, _ body: (Target) -> Void) {
        switch goneTarget {
        case .trap: body(target.require(member))
        case .ignore: if let service = target.service { body(service) }
        }
    }
}

extension ServiceProxy where Self: Hashable {
    /// Whether both stand for the same living object. Proxies that follow registrations, and proxies whose object was
    /// released, are equal only to themselves: a new object may have the address of the old one.
    public static func == (first: Self, second: Self) -> Bool {
        if first === second { return true }
        guard let identity = first.target.identity, identity == second.target.identity else { return false }
        return first.isAlive && second.isAlive
    }

    /// Hashes the identity of the target, which does not change when the target is released.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(target.identity ?? ObjectIdentifier(self))
    }
}
