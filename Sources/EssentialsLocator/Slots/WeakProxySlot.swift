import EssentialsTools

/// A registration of a proxy, which it retains, for an object, which it does not retain.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class WeakProxySlot: ServiceSlot, @unchecked Sendable {
    private let isAlive: @Sendable () -> Bool
    private let fallback: WeakFallback

    init<Service: Sendable>(
        _ proxy: Service, name: String?, site: RegistrationSite, fallback: WeakFallback,
        isAlive: @escaping @Sendable () -> Bool
    ) {
        self.isAlive = isAlive
        self.fallback = fallback
        super.init(Service.self, name: name, site: site, kind: .weakProxy, state: .dynamic)
        memory.initializeMemory(as: Service.self, to: proxy)
        markStored()
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        guard isAlive() else { return provisionWhenGone }
        copy(into: memory)
        return .provided
    }

    override var provisionWhenGone: Provision { fallback == .parent ? .absent : .missing }

    override var isGone: Bool { !isAlive() }

    /// `nil`: the proxy is not the service, and the object belongs to another owner.
    override var held: Any? { nil }
}
