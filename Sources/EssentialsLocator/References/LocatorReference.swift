/// A reference to a locator that does not keep it alive, for services that resolve later than they are built.
///
/// A service that retained its own locator would keep both alive forever.
///
/// ```swift
/// try locator.registerLazy((any Mailer).self) { locator in QueueingMailer(locator: locator.reference) }
/// // in the mailer, which keeps the reference
/// let smtp = try reference.live().resolve((any SMTPService).self)
/// ```
///
/// Any thread. Each use costs a weak load.
public struct LocatorReference: Sendable {
    private let reference: WeakReference<ServiceLocator>
    /// The locator's name, also after the locator was released.
    public let name: String

    init(_ locator: ServiceLocator) {
        name = locator.name
        reference = WeakReference(locator)
    }

    /// The locator, or `nil` if it was released.
    public var locator: ServiceLocator? { reference.object }

    /// The locator.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/locatorGone``.
    public func live() throws(ServiceLocatorError) -> ServiceLocator {
        if let locator = reference.object { return locator }
        throw .locatorGone(name)
    }
}

/// An object that is not retained. The property is a constant, so that reads need no check for exclusive access.
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    init(_ object: Object) { self.object = object }
}
