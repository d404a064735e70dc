/// A way to a locator that does not keep it alive, for services that resolve later than they are built.
///
/// A service that retained its own locator would keep both alive for ever.
///
/// ```swift
/// try locator.registerLazy((any Mailer).self) { locator in QueueingMailer(locator: locator.reference) }
/// // in the mailer
/// let smtp = try locator.live().resolve((any SMTPService).self)
/// ```
///
/// Any thread. Each use costs a weak load.
public struct LocatorReference: Sendable {
    private let reference: WeakReference<ServiceLocator>
    /// The locator's name, also after it is gone.
    public let name: String

    init(_ locator: ServiceLocator) {
        name = locator.name
        reference = WeakReference(locator)
    }

    /// The locator; nil if it is gone.
    public var locator: ServiceLocator? { reference.object }

    /// The locator.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/locatorGone``.
    public func live() throws(ServiceLocatorError) -> ServiceLocator {
        if let locator = reference.object { return locator }
        throw .locatorGone(name)
    }
}

extension ServiceLocator {
    /// A way to this locator that does not keep it alive.
    public var reference: LocatorReference { LocatorReference(self) }

    /// A way to a service that resolves at each use and keeps neither the service nor this locator alive.
    public func reference<Service: Sendable>(
        to type: Service.Type, named name: String? = nil
    ) -> ServiceReference<Service> {
        ServiceReference(locator: reference, name: name)
    }
}
