import Synchronization

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
final class WeakSlot: Slot, @unchecked Sendable {
    /// Puts the service into memory, if any is given and the object is there; whether it is.
    typealias Load = @Sendable (_ memory: UnsafeMutableRawPointer?) -> Bool

    private let load: Load
    private let fallback: WeakFallback

    init(_ type: Any.Type, name: String?, site: RegistrationSite, fallback: WeakFallback, load: @escaping Load) {
        self.load = load
        self.fallback = fallback
        super.init(type: type, name: name, site: site, kind: .weak, state: .dynamic)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) == .dynamic else { throw .closed(owner) }
        // Loaded once: what is handed out is what was found alive.
        if load(memory) { return .provided }
        return provisionWhenGone
    }

    override func provideAtOnce(into memory: UnsafeMutableRawPointer) -> Bool {
        state.load(ordering: .acquiring) == .dynamic && load(memory)
    }

    override var provisionWhenGone: Provision { fallback == .parent ? .absent : .missing }

    override var isGone: Bool { !load(nil) }

    override func stored() -> Any? {
        func service<Service>(_ type: Service.Type) -> Any? { try? ServiceMemory.fill(type) { load($0) } }
        return _openExistential(type, do: service)
    }
}
