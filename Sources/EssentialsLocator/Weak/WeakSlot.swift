import Synchronization

/// A registration that does not retain its object.
///
/// `@unchecked Sendable`: the stored properties are constants of `Sendable` types.
@usableFromInline
final class WeakSlot: Slot, @unchecked Sendable {
    /// Puts the service into memory, if any is given and the object is there; whether it is.
    @usableFromInline
    typealias Load = @Sendable (_ memory: UnsafeMutableRawPointer?) -> Bool

    @usableFromInline
    let load: Load
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

    /// The service if its object is there. Inlined into the caller's module, which knows the type.
    @inlinable @inline(__always)
    func service<Service>(of type: Service.Type) -> Service? {
        withUnsafeTemporaryAllocation(of: type, capacity: 1) { memory in
            // One element was asked for, so there is an address. Who made the slot's key of the type made its closure of it.
            guard let address = memory.baseAddress, load(UnsafeMutableRawPointer(address)) else { return nil }
            return address.move()
        }
    }

    override var provisionWhenGone: Provision { fallback == .parent ? .absent : .missing }

    override var isGone: Bool { !load(nil) }

    override func stored() -> Any? {
        func load<Service>(_ type: Service.Type) -> Any? { service(of: type) }
        return _openExistential(type, do: load)
    }
}
