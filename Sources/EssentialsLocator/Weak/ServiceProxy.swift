/// A class that stands for a service without keeping it alive: it forwards, and answers for an object that is gone.
///
/// What is registered with ``ServiceLocator/registerWeakProxy(_:as:named:whenGone:fileID:line:proxy:)`` is a small class
/// of yours, one per protocol:
///
/// ```swift
/// final class CartServiceProxy: CartService, ServiceProxy {
///     let target: WeakHandle<any CartService>
///     init(_ cart: some CartService) { target = WeakHandle(cart) { $0 } }
///
///     func add(_ item: String) throws { try liveTarget().add(item) }    // throws `serviceGone`
///     var coupon: String? { target.service?.coupon }                    // nil
///     func clear() { perform { $0.clear() } }                           // as `goneTarget` says
///     var count: Int { requiredTarget().count }                         // ends the process, with a text
/// }
/// try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
/// ```
///
/// **Identity.** A proxy is an object of its own: `proxy === cart` is false. A proxy that declares `Hashable` gets `==`
/// and `hash(into:)` by the identity of its target, so two proxies of one object are equal while it lives. Whether a proxy stands for an
/// object is asked with ``stands(for:)``.
///
/// **Cost.** Each forwarded call loads a weak reference. **Threads** are those of the target.
public protocol ServiceProxy: AnyObject, Sendable {
    /// What it stands for, usually a protocol.
    associatedtype Target

    /// The way to the target.
    var target: WeakHandle<Target> { get }

    /// What ``perform(_:_:)`` does when the target is gone. ``GoneTargetPolicy/trap`` unless said otherwise.
    var goneTarget: GoneTargetPolicy { get }
}

/// What a proxy does about a call without a result when its target is gone.
public enum GoneTargetPolicy: Sendable, Hashable {
    /// Ends the process, naming the protocol, the member and where the proxy was registered.
    case trap
    /// Does nothing.
    case ignore
}

extension ServiceProxy {
    /// ``GoneTargetPolicy/trap``.
    public var goneTarget: GoneTargetPolicy { .trap }

    /// Whether the target is there at this moment.
    public var isAlive: Bool { target.isAlive }

    /// Whether this stands for `object`. False once the object is gone.
    public func stands(for object: AnyObject) -> Bool {
        isAlive && target.identity == ObjectIdentifier(object)
    }

    /// The target, for members that throw.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/serviceGone``.
    public func liveTarget() throws(ServiceLocatorError) -> Target { try target.live() }

    /// The target, for members that must give a result and cannot throw; ends the process when it is gone.
    public func requiredTarget(_ member: StaticString = #function) -> Target { target.require(member) }

    /// Forwards a call without a result; what happens when the target is gone is ``goneTarget``'s to say.
    public func perform(_ member: StaticString = #function, _ body: (Target) -> Void) {
        switch goneTarget {
        case .trap: body(target.require(member))
        case .ignore: if let service = target.service { body(service) }
        }
    }
}

extension ServiceProxy where Self: Hashable {
    /// Whether both stand for the same living object. Late-binding proxies, and those whose object is gone, are equal to
    /// themselves only: a new object may have the old one's address.
    public static func == (first: Self, second: Self) -> Bool {
        if first === second { return true }
        guard let identity = first.target.identity, identity == second.target.identity else { return false }
        return first.isAlive && second.isAlive
    }

    /// By the address of the target, which is remembered when it is gone.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(target.identity ?? ObjectIdentifier(self))
    }
}
