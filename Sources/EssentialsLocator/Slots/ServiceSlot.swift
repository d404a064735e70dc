import EssentialsTools

/// A registration that stores its service: a strong one, and the base of the kinds that store a service later.
///
/// The class is not generic, because the runtime would need microseconds to create each specialized class when a
/// program starts. Code that needs the type opens ``Slot/type``.
///
/// `@unchecked Sendable`: `memory` is the only unprotected state. One thread writes it once, before it stores `ready`
/// in `state` with release ordering: the thread that runs `init` for a strong registration, and the thread whose
/// attempt was admitted for others. Other threads read it after they have loaded `ready` with acquire ordering. From
/// then on it does not change until `deinit`. The service is `Sendable`, so any thread may copy it.
class ServiceSlot: Slot, @unchecked Sendable {
    /// The same memory as ``Slot/storage``.
    final let memory: UnsafeMutableRawPointer

    /// Creates a strong registration.
    init<Service: Sendable>(_ service: Service, name: String?, site: RegistrationSite) {
        let storage = UnsafeMutablePointer<Service>.allocate(capacity: 1)
        storage.initialize(to: service)
        memory = UnsafeMutableRawPointer(storage)
        super.init(type: Service.self, name: name, site: site, kind: .strong, state: .ready, storage: storage)
        markStored()
    }

    /// Creates a registration of another kind, which stores its service later.
    init<Service: Sendable>(
        _ type: Service.Type, name: String?, site: RegistrationSite, kind: ServiceGraph.Kind, state: State
    ) {
        memory = UnsafeMutableRawPointer(UnsafeMutablePointer<Service>.allocate(capacity: 1))
        super.init(type: type, name: name, site: site, kind: kind, state: state, storage: memory)
    }

    deinit {
        func destroy<Service>(_ type: Service.Type) {
            let typed = memory.assumingMemoryBound(to: type)
            if isStored { typed.deinitialize(count: 1) }
            typed.deallocate()
        }
        _openExistential(type, do: destroy)
    }

    override func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        guard readyService != nil else { throw .closed(owner) }
        copy(into: memory)
        return .provided
    }

    /// Copies the stored service into uninitialized memory.
    final func copy(into target: UnsafeMutableRawPointer) {
        func copy<Service>(_ type: Service.Type) {
            target.initializeMemory(as: type, from: memory.assumingMemoryBound(to: type), count: 1)
        }
        _openExistential(type, do: copy)
    }

    /// The stored service, or `nil`. `type` must be the registered type.
    final func service<Service>(of type: Service.Type) -> Service? {
        isStored ? memory.assumingMemoryBound(to: type).pointee : nil
    }

    override func stored() -> Any? {
        func load<Service>(_ type: Service.Type) -> Any? { service(of: type) }
        return _openExistential(type, do: load)
    }

    override var held: Any? {
        let service = stored()
        return (service as? any MainActorBoxing)?.boxed ?? service
    }
}
