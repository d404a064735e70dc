/// An object that receives the changes of resources.
///
/// ```swift
/// final class CartBadge: ResourceObserver {
///     func resourceChanged(_ change: ResourceChange<Cart>, of resource: Resource<Cart>) {
///         show(change.state.content?.items.count ?? 0)
///     }
/// }
/// shop.cart.addObserver(badge)                // until the badge is released
/// shop.cart.addObserver(log, owner: screen)   // until the screen is released
/// ```
///
/// An observer has owners, and observes as long as one of them is alive; see ``Resource/addObserver(_:owner:)``. Code
/// that can store a ``ResourceObservation`` needs no owners.
///
/// The methods are called on the thread that makes the change, in the order of the changes, never by two threads at
/// once for one resource, and without a lock. They must return quickly. A change that they make is delivered after the
/// current one has reached all observers.
public protocol ResourceObserver: AnyObject, Sendable {
    /// The type of the resources' content.
    associatedtype Content: Sendable

    /// Receives a change. The first one has the event `attached`.
    func resourceChanged(_ change: ResourceChange<Content>, of resource: Resource<Content>)

    /// Whether the observer also receives ``ResourceEvent/progress(_:)``. It is read once, when the observer is added
    /// to a resource. The default is `false`. If no observer returns `true`, nothing is measured.
    var reportsProgress: Bool { get }

    /// Called when no more changes of the resource will come, because the observer was removed, its last owner was
    /// released, or the service was closed. An observer that was itself released does not receive this call.
    ///
    /// A call of ``resourceChanged(_:of:)`` that has begun on another thread may still be running. The default
    /// implementation does nothing.
    func stoppedObserving(_ resource: Resource<Content>)
}

extension ResourceObserver {
    /// The default is `false`.
    public var reportsProgress: Bool { false }

    /// Does nothing.
    public func stoppedObserving(_ resource: Resource<Content>) {}
}

extension Resource {
    /// Adds an observer object.
    ///
    /// Without an owner the observer owns itself: it is held weakly, and observes as long as it is alive. With an owner
    /// it is held strongly as long as the owner is alive. An observer that is added again receives each change once,
    /// has all its owners, and observes as long as one of them is alive.
    ///
    /// After the last owner was released, the observer receives no more changes. Its memory is released with the next
    /// change of the resource or the next look-up of its observers, when the service drops unused resources, and soon
    /// after other observers are added or new resources are looked up.
    ///
    /// The thread that checks whether an owner is alive may become the one that releases it. Owners are therefore
    /// `Sendable`, like all classes that are isolated to an actor.
    ///
    /// ```swift
    /// shop.cart.addObserver(log, owner: screen)
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The observer. It counts as an observer of the resource and keeps the resource in memory, but not
    ///     the service.
    ///   - owner: The object whose lifetime limits the observation; `nil` means the observer itself.
    /// - Returns: A token that removes the observer.
    @discardableResult
    public func addObserver<Observer: ResourceObserver>(
        _ observer: Observer, owner: (any AnyObject & Sendable)? = nil
    ) -> ObserverToken where Observer.Content == Content {
        // The view exists before the first change, so that each change has a snapshot for it.
        _ = state
        return service.observers.add(observer, owner, to: self)
    }

    /// Calls a closure for each change as long as an owner is alive, on the thread that makes the change; see
    /// ``addObserver(_:owner:)``.
    ///
    /// ```swift
    /// shop.cart.addObserver(owner: screen) { [weak screen] change in screen?.show(change.state.content) }
    /// ```
    ///
    /// - Parameters:
    ///   - owner: The object whose lifetime limits the observation. The closure must not hold it strongly.
    ///   - reportingProgress: Whether the closure also receives ``ResourceEvent/progress(_:)``.
    ///   - body: Receives the changes, beginning with `attached`.
    /// - Returns: A token that removes the closure.
    @discardableResult
    public func addObserver(
        owner: any AnyObject & Sendable, reportingProgress: Bool = false,
        _ body: @escaping @Sendable (ResourceChange<Content>) -> Void
    ) -> ObserverToken {
        addObserver(ClosureObserver(reportingProgress, body), owner: owner)
    }

    /// Removes an owner from the observers of this resource. Observers without another owner are removed.
    ///
    /// - Parameter owner: The owner. An observer that was added without an owner owns itself.
    public func removeObservers(ownedBy owner: any AnyObject & Sendable) {
        service.observers.remove(ownedBy: owner, from: core)
    }
}

/// Removes an observer that was added to a resource. Releasing the token has no effect.
///
/// ```swift
/// let token = cart.addObserver(owner: screen) { change in log(change.event) }
/// token.remove()
/// ```
public struct ObserverToken: Sendable {
    let resource: AnyResource
    let number: UInt64

    /// Removes the observer with all its owners. A second call has no effect.
    ///
    /// On this thread the observer receives no change afterwards. On other threads a call may still be running.
    public func remove() { resource.service.observers.remove(number) }
}

extension ObserverToken: Hashable {
    /// Whether both remove the same observation. Adding an observer twice makes one observation.
    public static func == (one: ObserverToken, other: ObserverToken) -> Bool {
        one.resource == other.resource && one.number == other.number
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(resource)
        hasher.combine(number)
    }
}

/// A closure that has owners.
private final class ClosureObserver<Content: Sendable>: ResourceObserver {
    let reportsProgress: Bool
    private let body: @Sendable (ResourceChange<Content>) -> Void

    init(_ reportsProgress: Bool, _ body: @escaping @Sendable (ResourceChange<Content>) -> Void) {
        (self.reportsProgress, self.body) = (reportsProgress, body)
    }

    func resourceChanged(_ change: ResourceChange<Content>, of resource: Resource<Content>) { body(change) }
}
