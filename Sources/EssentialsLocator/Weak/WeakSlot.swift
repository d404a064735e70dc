import Synchronization

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class WeakSlot<Service: Sendable>: ServiceSlot<Service>, @unchecked Sendable {
    private let load: @Sendable () -> Service?
    private let fallback: WeakFallback

    init(name: String?, site: RegistrationSite, fallback: WeakFallback, load: @escaping @Sendable () -> Service?) {
        self.load = load
        self.fallback = fallback
        super.init(name: name, site: site, kind: .weak, state: .dynamic)
    }

    override func provide(
        owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision<Service> {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // Loaded once: what is handed out is what was found alive.
        if let service = load() { return .service(service) }
        return fallback == .parent ? .absent : .missing
    }

    override var isGone: Bool { load() == nil }

    override func holds<Other>(_ type: Other.Type) -> Bool { load() is Other }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        isGone ? .serviceGone(label(in: owner), site: site) : nil
    }
}

/// A registration of a proxy, which it retains, for an object, which it does not.
///
/// `@unchecked Sendable`: the stored property is a constant of a `Sendable` type.
final class WeakProxySlot<Service: Sendable>: ServiceSlot<Service>, @unchecked Sendable {
    private let isAlive: @Sendable () -> Bool
    private let fallback: WeakFallback

    init(
        _ proxy: Service, name: String?, site: RegistrationSite, fallback: WeakFallback,
        isAlive: @escaping @Sendable () -> Bool
    ) {
        self.isAlive = isAlive
        self.fallback = fallback
        super.init(name: name, site: site, kind: .weakProxy, state: .dynamic)
        store(proxy)
    }

    override func provide(
        owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision<Service> {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        if isAlive() { return .service(typedStorage.pointee) }
        return fallback == .parent ? .absent : .missing
    }

    override var isGone: Bool { !isAlive() }

    /// The proxy is not the service, and its object is not the locator's to close.
    override var closeable: (any Closeable)? { nil }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        isGone ? .serviceGone(label(in: owner), site: site) : nil
    }
}
