import Synchronization

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class WeakSlot<Service: Sendable>: ServiceSlot<Service>, @unchecked Sendable {
    /// Puts the service into memory, if any is given and the object is there; whether it is.
    typealias Load = @Sendable (_ memory: UnsafeMutableRawPointer?) -> Bool

    private let load: Load
    private let fallback: WeakFallback

    init(name: String?, site: RegistrationSite, fallback: WeakFallback, load: @escaping Load) {
        self.load = load
        self.fallback = fallback
        super.init(name: name, site: site, kind: .weak, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // Loaded once: what is handed out is what was found alive.
        if load(memory) { return .provided }
        return fallback == .parent ? .absent : .missing
    }

    override var isGone: Bool { !load(nil) }

    override func holds<Other>(_ type: Other.Type) -> Bool {
        let service = try? ServiceMemory.fill(Service.self) { load($0) }
        return service is Other
    }

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
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        if isAlive() {
            copy(into: memory)
            return .provided
        }
        return fallback == .parent ? .absent : .missing
    }

    override var isGone: Bool { !isAlive() }

    /// The proxy is not the service, and its object is not the locator's to close.
    override var closeable: (any Closeable)? { nil }

    override func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        isGone ? .serviceGone(label(in: owner), site: site) : nil
    }
}
